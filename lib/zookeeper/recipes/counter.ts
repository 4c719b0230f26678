/**
 * Restart of a directory's sequence numbers before they run out. A directory numbers its children with a 32-bit counter
 * that counts every create, directories of nested keys included. The servers do not let it wrap. At its end several
 * contenders get the same number, and their order cannot be told.
 * So long before that, no contender of ours is granted any more. When the last one has left, the directory is deleted.
 * The next contender creates it again, with a new counter.
 * A directory with children that are not contenders cannot be deleted. Then the key is refused with an error that names
 * them. Other clients may use them, so they are not ours to delete.
 */
import { pause } from '../../async/timer.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { isKeeperError } from '../session/requests.js';
import type { CreatedNode } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing } from '../session/watch.js';
import { withoutMark } from './contender-znode.js';
import { childrenOf } from './contender-listing.js';

const LOOK_AGAIN_MS = 100;
const MOST_SHOWN = 3;
const BEYOND = 2n ** 63n;

type Asking = Pick<LockRequest, 'wait' | 'signal'>;

/** An error: no contender may queue in a directory before it has been created again. */
export class CounterEndingError extends Error {
  readonly directory: string;
  /** A directory that was created after this zxid is a new one. */
  readonly czxid: bigint;

  /** @param contender the contender whose number shows it */
  constructor({ path, czxid }: CreatedNode) {
    super(`the numbers of ${path} are used up`);
    this.name = 'CounterEndingError';
    this.directory = path.slice(0, path.lastIndexOf('/'));
    this.czxid = czxid;
  }
}

/** The directory cannot be created again: it has children that do not leave by themselves. */
export class CounterStuckError extends Error {
  constructor(path: string, others: readonly string[]) {
    const shown = others.slice(0, MOST_SHOWN).map((name) => `"${name}"`);
    const more = others.length > shown.length ? ` and ${others.length - shown.length} more` : '';
    const cure = 'remove them when nothing uses the keys below it, or use another key';
    super(
      `the numbers of ${path} are used up, and ${shown.join(', ')}${more} below it keep it from being made anew; ${cure}`,
    );
    this.name = 'CounterStuckError';
  }
}

/**
 * Deletes the directory once it is empty. A directory that was created again since is left to its contenders. `false`:
 * it is not empty, and the caller does not wait.
 * @throws CounterStuckError when there are no contenders whose leaving would be worth the wait
 */
export async function restartCounter(
  session: Session,
  { directory: path, czxid }: Pick<CounterEndingError, 'directory' | 'czxid'>,
  wait: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await session.persistently(() => session.requests.delete(path), signal);
      return true;
    } catch (error) {
      if (isKeeperError(error, 'noNode')) return true;
      if (!isKeeperError(error, 'notEmpty')) throw error;
    }
    if ((await madeAt(session, path, signal)) > czxid) return true;
    const names = await childrenOf(session, path, signal);
    const others = names.filter((name) => withoutMark(name) === name);
    if (others.length > 0 && others.length === names.length) throw new CounterStuckError(path, others);
    if (!wait) return false;
    await pause(LOOK_AGAIN_MS, signal);
  }
}

/** The creation zxid of the directory. Larger than all others when there is no directory. */
async function madeAt(session: Session, path: string, signal: AbortSignal): Promise<bigint> {
  const read = session.persistently(() => session.requests.read(path), signal);
  return (await unlessMissing(read, undefined))?.stat.czxid ?? BEYOND;
}

/**
 * The directories whose numbers were seen to be used up, and the errors that said so. Another attempt there would only
 * use up one more number.
 */
export class EndingCounters extends Map<string, CounterEndingError> {
  /**
   * Restarts the counters of those directories where that is due. `false`: not this time. @throws as `restartCounter`
   */
  async areRestarted(session: Session, directories: readonly string[], { wait, signal }: Asking): Promise<boolean> {
    for (const directory of directories) {
      const ending = this.get(directory);
      if (!ending) continue;
      if (!(await restartCounter(session, ending, wait, signal))) return false;
      this.delete(directory);
    }
    return true;
  }
}
