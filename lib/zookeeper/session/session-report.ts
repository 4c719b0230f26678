import { now } from '../../async/clock.js';
import type { ConnectionLog } from '../../contract/lock-backend.js';
import type { Handshake, SessionEnd } from '../client/zookeeper-client.js';
import type { GrantedTimeout } from './granted-timeout.js';
import type { SessionListener } from './session-supervisor.js';
import type { Session } from './session.js';

const SILENT: ConnectionLog = { log() {}, warn() {} };

/** Says what becomes of a connection and its sessions: a line for each outage, each end of a session, each new connection. */
export class SessionReport implements SessionListener {
  readonly #servers: string;
  readonly #timeout: GrantedTimeout;
  #log = SILENT;
  #sessionId: bigint | undefined;
  #downSince: number | undefined;

  /** @param servers what it connects to, for messages */
  constructor(servers: string, timeout: GrantedTimeout) {
    this.#servers = servers;
    this.#timeout = timeout;
  }

  logTo(log: ConnectionLog): void {
    this.#log = log;
    this.#timeout.warnTo((message) => log.warn(message));
  }

  connected(handshake: Handshake): void {
    const { sessionId, timeoutMs } = handshake;
    const session = `session ${idText(sessionId)}, timeout ${timeoutMs} ms`;
    if (this.#sessionId === undefined) this.#log.log(`connected to ${this.#servers}: ${session}`);
    else if (this.#downSince !== undefined) {
      const awayMs = Math.round(now() - this.#downSince);
      const which = sessionId === this.#sessionId ? 'the same as before' : 'a new one';
      this.#log.warn(`connected again to ${this.#servers} after ${awayMs} ms: ${session}, ${which}`);
    }
    this.#sessionId = sessionId;
    this.#downSince = undefined;
    this.#timeout.granted(handshake);
  }

  disconnected(session: Session, error: Error | undefined): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = now();
    const why = error ? ` (${error.message})` : '';
    const leftMs = Math.max(0, Math.round(session.leftMs));
    const { leases } = session;
    const consequence =
      leases === 0
        ? ''
        : `; held leases (${leases}) are suspended, and lost unless a server answers within ${leftMs} ms`;
    this.#log.warn(`the connection to ${this.#servers} is lost${why}${consequence}`);
  }

  ended(session: Session, why: SessionEnd): void {
    this.#downSince ??= now();
    this.#log.warn(
      `session ${idText(session.id)} is over: ${why}. Its leases are lost; waits line up again in the next one`,
    );
  }
}

/** As the servers write it in their logs. */
function idText(sessionId: bigint): string {
  return `0x${BigInt.asUintN(64, sessionId).toString(16)}`;
}
