import { OpCode } from '../wire/codes.js';
import { pathWatchRecord } from '../wire/records.js';
import type { ConnectionManager } from './driver.js';
import type { Reply } from './pending-request.js';

const NO_ZXID = Buffer.alloc(8);

/** Makes a request on the current connection. */
export type Ask = (type: OpCode, body: Buffer, path: string, read: (reply: Reply) => bigint) => Promise<bigint>;

/**
 * The handshakes for one session: when each was sent, whether it was answered, and which zxid it claims.
 *
 * A handshake claims the last zxid that this client has seen. Two kinds of servers close the connection without a
 * reply: a server without a quorum, and a server whose data is older than that zxid. Its data may have been lost or
 * restored from a backup.
 * Once the session timeout is over, and with it every lease, a handshake claims no zxid. That distinguishes the two
 * cases. A server without a quorum still does not reply. With any other server, the session turns out to be expired, or
 * the next reply shows how old the data is.
 */
export class Handshakes {
  readonly #driver: Pick<ConnectionManager, 'zxid' | 'sessionTimeout'>;
  #sentAt: number | undefined;
  #unansweredSince: number | undefined;
  #downSince: number | undefined;
  #claimsZxid = true;

  constructor(driver: Pick<ConnectionManager, 'zxid' | 'sessionTimeout'>) {
    this.#driver = driver;
  }

  /** When the current handshake was sent. */
  get sentAt(): number {
    return this.#sentAt ?? 0;
  }

  /** Whether the current handshake claims the zxid. If it does, no server with older data replies to it. */
  get claimsZxid(): boolean {
    return this.#claimsZxid;
  }

  /** @param write writes the driver's handshake */
  send(at: number, write: () => void): void {
    const { zxid, sessionTimeout } = this.#driver;
    this.#sentAt = at;
    this.#claimsZxid = zxid.equals(NO_ZXID) || at - (this.#downSince ?? at) <= sessionTimeout;
    if (!this.#claimsZxid) this.#driver.zxid = NO_ZXID;
    write();
    this.#driver.zxid = zxid;
  }

  answered(): void {
    this.#unansweredSince = undefined;
    this.#downSince = undefined;
  }

  /** Records that the current connection is closed. */
  over(at: number): void {
    this.#sentAt = undefined;
    this.#downSince ??= at;
  }

  /**
   * Records that the handshake timed out. Returns for how long, by `at`, servers have received handshakes without
   * replying.
   */
  unanswered(at: number): number {
    this.#unansweredSince ??= this.#sentAt;
    return at - (this.#unansweredSince ?? at);
  }

  /** Whether the data of the connected server is older than what this client has seen. @throws KeeperError */
  async isBehind(ask: Ask): Promise<boolean> {
    const seen = this.#driver.zxid.readBigInt64BE(0);
    return (await ask(OpCode.exists, pathWatchRecord('/', false), '/', ({ zxid }) => zxid)) < seen;
  }
}
