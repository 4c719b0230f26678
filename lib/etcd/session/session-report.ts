import { now } from '../../async/clock.js';
import type { ConnectionLog } from '../../contract/lock-backend.js';
import { SessionChanges } from '../../contract/session-changes.js';
import type { EtcdSession } from './etcd-session.js';

const SILENT: ConnectionLog = { log() {}, warn() {} };

/**
 * Logs the fate of a connection and its sessions, and tells a listener. There is one log entry for each outage, each end
 * of a session, and each new connection.
 */
export class SessionReport {
  /** The same changes, for a listener. */
  readonly changes = new SessionChanges();
  readonly #warned = new Set<string>();
  #log = SILENT;
  #hasConnected = false;
  #downSince: number | undefined;

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

  /** Warns once of leases that are longer than asked for: the servers have a least time, by their election timeout. */
  granted(grantedMs: number, askedMs: number): void {
    if (grantedMs <= askedMs) return;
    this.warn([
      `the etcd servers grant leases of ${grantedMs} ms, sessionTimeoutMs asks for ${askedMs}: the locks of a dead ` +
        'process stay for that long (the least is one and a half --election-timeout of the servers)',
    ]);
  }

  connected({ id, timeoutMs }: Pick<EtcdSession, 'id' | 'timeoutMs'>, host: string): void {
    if (!this.#hasConnected) this.#log.log(`connected to etcd at ${host}: session ${id}`);
    else if (this.#downSince !== undefined) {
      const awayMs = Math.round(now() - this.#downSince);
      this.#log.warn(`connected again to etcd at ${host} after ${awayMs} ms: session ${id}`);
    }
    this.#hasConnected = true;
    this.#downSince = undefined;
    this.changes.connected({ sessionId: id, sessionTimeoutMs: timeoutMs, server: host });
  }

  disconnected(error: Error, session: EtcdSession | undefined): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = now();
    const leases = session?.leases.size ?? 0;
    const leftMs = Math.max(0, Math.round((session?.deadline ?? 0) - now()));
    const consequence =
      leases === 0
        ? ''
        : `; held leases (${leases}) are suspended, and lost unless a majority answers within ${leftMs} ms`;
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
