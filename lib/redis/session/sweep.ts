/** The sweep: entries of dead processes are removed from wait queues whose keys nobody asks for any more. */
import type { Dispose } from '../../async/abort.js';
import { after } from '../../async/timer.js';
import { FIND } from '../scripts/lock-scripts.js';
import { SWEEP, TURN } from '../scripts/sweep-scripts.js';
import type { QueueKeys, QueueKind } from './redis-keys.js';
import type { RedisSession } from './redis-session.js';

/** The time in which one process of a base path sweeps once. */
const SWEEP_MS = 3_600_000;
/** The time after which each process asks for its turn. */
const ASK_MS = SWEEP_MS / 6;
const NAMES_AT_ONCE = 1_000;
// A script blocks the server, so it looks at few wait queues.
const QUEUES_AT_ONCE = 20;

const NAME = /^[hw]:(?<kind>lock|permits|election|put|take):(?<key>.*)$/s;

type SweepingSession = Pick<RedisSession, 'keys' | 'run'>;

/** Sweeps once, if it is the turn of this process. @throws SessionEndedError, RefusedError */
export async function sweep(session: SweepingSession): Promise<void> {
  const { keys } = session;
  const [word] = await session.run(TURN, [keys.of('sweep', '')], [SWEEP_MS]);
  if (word !== 'TURN') return;
  const pattern = `${keys.prefix.replace(/[*?[\]\\^]/g, '\\$&')}[hw]:*`;
  let cursor = '0';
  do {
    const answer = await session.run(FIND, [], [cursor, pattern, NAMES_AT_ONCE]);
    const [, next, names] = answer as unknown as [string, string, string[]];
    cursor = next;
    const queues = names.flatMap((name): readonly QueueKeys[] => {
      const { kind, key } = NAME.exec(name.slice(keys.prefix.length))?.groups ?? {};
      return key === undefined ? [] : [keys.queue(kind as QueueKind, key)];
    });
    for (let first = 0; first < queues.length; first += QUEUES_AT_ONCE) {
      await session.run(SWEEP, queues.slice(first, first + QUEUES_AT_ONCE).flat(), []);
    }
  } while (cursor !== '0');
}

/** Asks for the turn to sweep from time to time, for one session after the other. */
export class Sweeps {
  #cancel: Dispose = () => {};

  /** Sweeps in this session from now on. */
  begin(session: SweepingSession): void {
    this.#cancel();
    this.#cancel = after(
      ASK_MS,
      () => {
        this.begin(session);
        // A session that is over is followed by the next one, and a server that refuses is asked again.
        sweep(session).catch(() => {});
      },
      'unref',
    );
  }

  stop(): void {
    this.#cancel();
  }
}
