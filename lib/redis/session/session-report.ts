import { now } from '../../async/clock.js';
import type { ConnectionLog } from '../../contract/lock-backend.js';
import { SessionChanges } from '../../contract/session-changes.js';
import type { RedisSession } from './redis-session.js';

const SILENT: ConnectionLog = { log() {}, warn() {} };

/**
 * Logs the fate of a connection and its sessions, and tells a listener. There is one log entry for each outage, each end
 * of a session, and each new connection.
 */
export class SessionReport {
  /** The same changes, for a listener. */
  readonly changes = new SessionChanges();
  readonly #server: string;
  readonly #warned: Set<string>;
  #log = SILENT;
  #hasConnected = false;
  #downSince: number | undefined;

  /**
   * @param server the server, for messages, without its password
   * @param warned the warnings that were logged, which several reports may share
   */
  constructor(server: string, warned = new Set<string>()) {
    this.#server = server;
    this.#warned = warned;
  }

  logTo(log: ConnectionLog): void {
    this.#log = log;
  }

  /** Logs each of these warnings once. */
  warn(messages: readonly string[]): void {
    for (const message of messages) {
      if (!this.#warned.has(message)) this.#log.warn(message);
      this.#warned.add(message);
    }
  }

  /** @param sessionTimeoutMs the session timeout, in milliseconds */
  connected(id: string, sessionTimeoutMs: number): void {
    if (!this.#hasConnected) this.#log.log(`connected to Redis at ${this.#server}: session ${id}`);
    else if (this.#downSince !== undefined) {
      const awayMs = Math.round(now() - this.#downSince);
      this.#log.warn(`connected again to Redis at ${this.#server} after ${awayMs} ms: session ${id}`);
    }
    this.#hasConnected = true;
    this.#downSince = undefined;
    this.changes.connected({ sessionId: id, sessionTimeoutMs, server: this.#server });
  }

  /** The server, for messages. */
  get server(): string {
    return this.#server;
  }

  joined(settlingMs: number): void {
    if (settlingMs <= 0) return;
    this.#log.warn(`the Redis server is new, or was restarted or promoted: it grants free keys in ${settlingMs} ms`);
  }

  replaced(): void {
    this.#log.warn('another Redis server answers: held leases are written down there, waits line up again');
  }

  disconnected(error: Error, session: RedisSession | undefined): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = now();
    const leases = session?.leases.size ?? 0;
    const leftMs = Math.max(0, Math.round((session?.deadline ?? 0) - now()));
    const consequence =
      leases === 0
        ? ''
        : `; held leases (${leases}) are suspended, and lost unless a server answers within ${leftMs} ms`;
    this.#log.warn(`${error.message}${consequence}`);
    this.changes.suspended(error.message);
  }

  /** Logs that the lease of a writer cannot become a reader's. Its holder goes on. */
  staysWriter(key: string, why: string): void {
    this.#log.warn(`"${key}": a writer could not become a reader, and keeps readers out: ${why}`);
  }

  ended(id: string, why: string): void {
    this.#log.warn(`session ${id} is over: ${why}. Its leases are lost; waits line up again in the next one`);
    this.changes.lost(why);
  }
}
