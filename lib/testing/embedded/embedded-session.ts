import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { checkMs } from '../../contract/check.js';
import type { Database } from './database/database.js';
import { Connection } from './server/connection.js';
import type { Session } from './sessions/session.js';

/** One client's session as the server sees it, with methods to inject faults. */
export class EmbeddedSession {
  readonly #session: Session;
  readonly #database: Database;
  #paused: Connection | undefined;

  /** @internal */
  constructor(session: Session, database: Database) {
    this.#session = session;
    this.#database = database;
  }

  /** The session's id. */
  get id(): bigint {
    return this.#session.id;
  }

  /**
   * The first granted timeout, in milliseconds. A new leader starts from this one, not from those that were granted
   * later.
   */
  get firstTimeoutMs(): number {
    return this.#session.firstTimeoutMs;
  }

  /** The timeout that was granted last, in milliseconds. */
  get timeoutMs(): number {
    return this.#session.timeoutMs;
  }

  /**
   * The earliest moment at which the servers may end the session by themselves, on their clock
   * (`EmbeddedEnsemble.nowMs`). It is one timeout after the leader's last sign of life from the session, and later
   * signs of life postpone it. A new leader counts from its election, with the first granted timeout. An election may
   * happen at any moment.
   */
  get earliestEndMs(): number {
    const { touchedMs, timeoutMs, firstTimeoutMs } = this.#session;
    return Math.min(touchedMs + timeoutMs, this.#database.clock.now() + firstTimeoutMs);
  }

  /** `false` once the session was closed or has expired. */
  get isOpen(): boolean {
    return this.#session.isOpen;
  }

  /** Whether a client is connected with this session. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** The paths of its ephemeral znodes. */
  get ephemerals(): string[] {
    return this.#database.tree.index.ephemeralsOf(this.id);
  }

  /** The paths that it watches on its present connection. */
  get watches(): string[] {
    return this.#connection?.watchedPaths ?? [];
  }

  /** Expires the session now, as if its timeout had passed. Its znodes are deleted before its client is notified. */
  expire(): void {
    this.#database.closeSession(this.#session);
  }

  /**
   * Closes its connection: `fin` like a server that closes it, `rst` like a server that was killed. The session
   * continues.
   */
  disconnect(how: 'fin' | 'rst' = 'rst'): void {
    this.#connection?.disconnect(how);
  }

  /**
   * Makes its connection half open: everything it sends is received, nothing is done or answered. Ends when the client
   * gives the connection up.
   */
  blackHole(): void {
    this.#connection?.blackHole();
  }

  /** Stops reading from it and sending to it until `resume()`. Its timeout continues to run. */
  pause(): void {
    this.#paused = this.#connection;
    this.#paused?.pause();
  }

  /** Ends `pause()`. */
  resume(): void {
    // The paused connection is resumed also when the session has changed connections since.
    this.#paused?.resume();
    this.#connection?.resume();
  }

  /** Delays everything that it receives on its present connection by this many milliseconds. */
  delay(ms: number): void {
    checkMs('delay', ms, 0, LONGEST_TIMER_MS);
    this.#connection?.outbox.delay(ms);
  }

  get #connection(): Connection | undefined {
    const { connection } = this.#session;
    return connection instanceof Connection ? connection : undefined;
  }
}
