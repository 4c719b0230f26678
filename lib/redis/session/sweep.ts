/** The sweep: entries of dead processes are removed from wait queues whose keys nobody asks for any more. */
import { NEVER, OwnAbortController } from '../../async/abort.js';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { after, pause } from '../../async/timer.js';
import { SessionEndedError } from '../../sessions/backend-sessions.js';
import { flag } from '../client/script.js';
import { SWEEP, TURN } from '../scripts/sweep-scripts.js';
import { foundNames, QUEUES_AT_ONCE } from './found-names.js';
import type { RedisSession } from './redis-session.js';

/** The time in which one process of a shard sweeps once. */
const SWEEP_MS = 3_600_000;
/** The time after which each process asks for its turn. A turn whose sweep has not ended is free again after as long. */
const ASK_MS = SWEEP_MS / 6;
/** The rest after each step: so many times as long as the step took, and no longer than the limit. */
const REST = 9;
const LONGEST_REST_MS = 1_000;

type SweepingSession = Pick<RedisSession, 'keys' | 'run'>;

/** Sweeps once, if it is the turn of this process. @throws SessionEndedError, RefusedError, `signal.reason` */
export async function sweep(session: SweepingSession, signal = NEVER): Promise<void> {
  const { keys } = session;
  const takeTurn = async (forMs: number, isDone: boolean) => {
    const [word] = await session.run(TURN, [keys.of('sweep', '')], [forMs, flag(isDone)], { signal });
    return word === 'TURN';
  };
  if (!(await takeTurn(ASK_MS, false))) return;
  let began = now();
  for await (const names of foundNames(session, '[hw]:*', signal)) {
    const queues = names.flatMap(({ kind, key }) => (kind === undefined ? [] : [keys.queue(kind, key)]));
    for (let first = 0; first < queues.length; first += QUEUES_AT_ONCE) {
      await session.run(SWEEP, queues.slice(first, first + QUEUES_AT_ONCE).flat(), [], { signal });
    }
    await pause(Math.min(REST * (now() - began), LONGEST_REST_MS), signal);
    if (!(await takeTurn(ASK_MS, false))) return;
    began = now();
  }
  await takeTurn(SWEEP_MS, true);
}

/** Asks for the turn to sweep from time to time, for one session after the other. */
export class Sweeps {
  readonly #warn: (message: string) => void;
  #session: SweepingSession | undefined;
  #stopped = new OwnAbortController();
  #cancel: Dispose = () => {};

  /** @param warn logs a message once */
  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  /** Sweeps in this session from now on. It may do so already, over another link. */
  begin(session: SweepingSession): void {
    if (this.#session === session) return;
    this.stop();
    this.#session = session;
    this.#stopped = new OwnAbortController();
    // The shards of many processes begin together.
    this.#sweepAfter(ASK_MS * (0.5 + Math.random() / 2), session, this.#stopped.signal);
  }

  stop(): void {
    this.#cancel();
    this.#stopped.abort();
  }

  #sweepAfter(ms: number, session: SweepingSession, stopped: AbortSignal): void {
    const next = () => {
      if (!stopped.aborted) this.#sweepAfter(ASK_MS, session, stopped);
    };
    const failed = (error: unknown) => {
      if (!stopped.aborted) this.#failed(error);
    };
    this.#cancel = after(ms, () => void sweep(session, stopped).catch(failed).then(next), 'unref');
  }

  /** A session that is over is followed by the next one, and a server that refuses is asked again. */
  #failed(error: unknown): void {
    if (error instanceof SessionEndedError) return;
    this.#warn(`the sweep has failed, and is tried again in ten minutes: ${(error as Error).message}`);
  }
}
