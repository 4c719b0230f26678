import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import type { Database } from './database/database.js';
import { Connection } from './server/connection.js';
import type { Session } from './sessions/session.js';

/** One client's session, as the server sees it, and what may happen to it. */
export class EmbeddedSession {
  readonly #session: Session;
  readonly #database: Database;
  #paused: Connection | undefined;

  /** @internal */
  constructor(session: Session, database: Database) {
    this.#session = session;
    this.#database = database;
  }

  get id(): bigint {
    return this.#session.id;
  }

  /** What it was made with, in milliseconds: a new leader knows of nothing that was granted since. */
  get firstTimeoutMs(): number {
    return this.#session.firstTimeoutMs;
  }

  /** What was granted last, in milliseconds. */
  get timeoutMs(): number {
    return this.#session.timeoutMs;
  }

  /**
   * The earliest moment at which the servers may end it by themselves, on their clock (`EmbeddedEnsemble.nowMs`): its
   * timeout after the leader has last heard of it. A later word moves it on. A new leader counts from its election, and
   * by the timeout that the session was made with: there may be one at any moment.
   */
  get earliestEndMs(): number {
    const { touchedMs, timeoutMs, firstTimeoutMs } = this.#session;
    return Math.min(touchedMs + timeoutMs, this.#database.clock.now() + firstTimeoutMs);
  }

  /** `false` once it was closed or has expired. */
  get isOpen(): boolean {
    return this.#session.isOpen;
  }

  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** The paths of its ephemeral znodes. */
  get ephemerals(): string[] {
    return this.#database.tree.index.ephemeralsOf(this.id);
  }

  /** The paths that it watches, on its present connection. */
  get watches(): string[] {
    return this.#connection?.watchedPaths ?? [];
  }

  /** Now, as if its timeout had passed: its znodes are gone before it hears of it. */
  expire(): void {
    this.#database.closeSession(this.#session);
  }

  /** Ends its connection: `fin` as a server that closes it, `rst` as one that was killed. The session goes on. */
  disconnect(how: 'fin' | 'rst' = 'rst'): void {
    this.#connection?.disconnect(how);
  }

  /** Half open: whatever it sends is taken, nothing is done or answered, until it gives its connection up. */
  blackHole(): void {
    this.#connection?.blackHole();
  }

  /** Nothing is read from it or told to it until `resume()`; its timeout runs. */
  pause(): void {
    this.#paused = this.#connection;
    this.#paused?.pause();
  }

  resume(): void {
    // The one that was paused, also when the session has left it since.
    this.#paused?.resume();
    this.#connection?.resume();
  }

  /** It hears everything this much later, in milliseconds, on its present connection. */
  delay(ms: number): void {
    checkMs('delay', ms, 0, LONGEST_TIMER_MS);
    this.#connection?.outbox.delay(ms);
  }

  get #connection(): Connection | undefined {
    const { connection } = this.#session;
    return connection instanceof Connection ? connection : undefined;
  }
}
