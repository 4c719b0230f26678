import { now } from '../async/clock.js';
import type { ConnectionLog } from '../contract/lock-backend.js';
import { SessionChanges } from '../contract/session-changes.js';

const SILENT: ConnectionLog = { log() {}, warn() {} };

/** A session that a server serves. */
interface ServedSession {
  readonly sessionId: string;
  readonly sessionTimeoutMs: number;
  /** The server, for listeners. */
  readonly server: string | undefined;
}

/** A session whose link was closed. */
interface CutSession {
  readonly leases: { readonly size: number };
  /** The time until which it is certain to last, on `now()`. */
  readonly deadline: number;
}

/** The leases at stake while no server answers. */
interface Stake {
  readonly leases: number;
  /** The time for which the session is certain to last, in milliseconds. */
  readonly leftMs: number;
}

/**
 * Logs the fate of a connection and its sessions, and tells a listener. There is one log entry for each outage, each end
 * of a session, and each new connection.
 */
export class SessionReport {
  /** The same changes, for a listener. */
  readonly changes = new SessionChanges();
  readonly #deciding: string;
  readonly #warned: Set<string>;
  #log = SILENT;
  #sessionId: string | undefined;
  #downSince: number | undefined;

  /**
   * @param deciding what must answer for leases to last, for messages: `a server`
   * @param warned the warnings that were logged, which several reports may share
   */
  constructor(deciding: string, warned = new Set<string>()) {
    this.#deciding = deciding;
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

  /** Logs a warning each time. */
  warnAgain(message: string): void {
    this.#log.warn(message);
  }

  /** @param name the servers, for messages */
  connected(name: string, session: ServedSession): void {
    const { sessionId, sessionTimeoutMs } = session;
    const what = `session ${sessionId}, timeout ${sessionTimeoutMs} ms`;
    if (this.#sessionId === undefined) this.#log.log(`connected to ${name}: ${what}`);
    else if (this.#downSince !== undefined) {
      const awayMs = Math.round(now() - this.#downSince);
      const which = sessionId === this.#sessionId ? 'the same as before' : 'a new one';
      this.#log.warn(`connected again to ${name} after ${awayMs} ms: ${what}, ${which}`);
    }
    this.#sessionId = sessionId;
    this.#downSince = undefined;
    this.changes.connected(session);
  }

  /** A link of Redis or etcd is closed. @param session the session that was cut off, if there was one */
  cut({ message }: Error, session: CutSession | undefined): void {
    const leftMs = session ? session.deadline - now() : 0;
    this.disconnected(message, message, { leases: session?.leases.size ?? 0, leftMs });
  }

  /** @param line the log entry, but for its consequence @param reason the reason, for listeners */
  disconnected(line: string, reason: string, { leases, leftMs }: Stake): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = now();
    const leastMs = Math.max(0, Math.round(leftMs));
    const consequence =
      leases === 0
        ? ''
        : `; held leases (${leases}) are suspended, and lost unless ${this.#deciding} answers within ${leastMs} ms`;
    this.#log.warn(`${line}${consequence}`);
    this.changes.suspended(reason);
  }

  /** Logs that the lease of a writer cannot become a reader's. Its holder goes on. */
  staysWriter(key: string, why: string): void {
    this.#log.warn(`"${key}": a writer could not become a reader, and keeps readers out: ${why}`);
  }

  ended(sessionId: string, why: string): void {
    this.#downSince ??= now();
    this.#log.warn(`session ${sessionId} is over: ${why}. Its leases are lost; waits line up again in the next one`);
    this.changes.lost(why);
  }
}
