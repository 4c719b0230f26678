import { OpCode } from '../wire/op-codes.js';
import { pathWatchRecord } from '../wire/records.js';
import type { ConnectionManager } from './driver.js';
import type { Reply } from './pending-request.js';

const NO_ZXID = Buffer.alloc(8);

/** Makes a request on the connection of the moment. */
type Ask = (type: OpCode, body: Buffer, path: string, read: (reply: Reply) => bigint) => Promise<bigint>;

/**
 * The handshakes that ask for one session again: when each was sent, whether it was answered, and what it claims.
 *
 * A handshake claims the last zxid that this client has seen. A server whose data is older, because it was lost or
 * restored from a backup, closes the connection without an answer; so does a server without a quorum. Once the session's
 * time is over, and with it every lease, a handshake claims no zxid, which tells the two apart: without a quorum it is
 * not answered either. Otherwise the session turns out to have expired, or the next reply shows how old the data is.
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

  /** When the handshake of the moment was sent. */
  get sentAt(): number {
    return this.#sentAt ?? 0;
  }

  /** Whether the handshake of the moment claims the zxid: then no server with older data answers it. */
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

  /** The connection of the moment is gone. */
  over(at: number): void {
    this.#sentAt = undefined;
    this.#downSince ??= at;
  }

  /** The time for an answer is up. Returns how long servers have received handshakes without answering, by `at`. */
  unanswered(at: number): number {
    this.#unansweredSince ??= this.#sentAt;
    return at - (this.#unansweredSince ?? at);
  }

  /** Whether the data of the server that has answered is older than what this client has seen. @throws KeeperError */
  async isBehind(ask: Ask): Promise<boolean> {
    const seen = this.#driver.zxid.readBigInt64BE(0);
    return (await ask(OpCode.exists, pathWatchRecord('/', false), '/', ({ zxid }) => zxid)) < seen;
  }
}
