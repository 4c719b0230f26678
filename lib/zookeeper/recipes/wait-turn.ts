import { isKeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilChanged } from '../session/watch.js';
import { CounterEndingError, isCounterEnding } from './counter.js';
import type { LockDirectory } from './lock-directory.js';
import { PlaceLostError } from './place-lost-error.js';
import { predecessorOf } from './predecessor.js';
import type { Entry } from './protected-create.js';

/**
 * The wait that every recipe with a line shares: look whom I wait for, watch that one znode, look again. A wake-up is
 * a hint: the line is read again after each. Resolves to whether it is the contender's turn: with `wait` only once it
 * is, otherwise with the answer of the first look. Rejects with `signal.reason`, leaving no watch.
 */
export function waitTurn(session: Session, directory: LockDirectory, wait: boolean) {
  return async ({ contender, names: seen }: Entry, signal: AbortSignal): Promise<boolean> => {
    if (isCounterEnding(contender.name)) throw new CounterEndingError(directory.path);
    for (let names = seen; ; names = undefined) {
      const predecessor = predecessorOf(contender.name, names ?? (await look(session, directory, signal)));
      if (predecessor === undefined) return true;
      if (predecessor === 'gone') throw new PlaceLostError(contender.path);
      if (!wait) return false;
      await untilChanged(session, `${directory.path}/${predecessor}`, signal);
    }
  };
}

/** Who stands in line; nobody, when the whole directory was deleted. */
async function look(session: Session, directory: LockDirectory, signal: AbortSignal): Promise<readonly string[]> {
  const names = session.persistently(() => session.requests.children(directory.path), signal);
  return names.catch((error: unknown) => {
    if (isKeeperError(error, 'noNode')) return [];
    throw error;
  });
}
