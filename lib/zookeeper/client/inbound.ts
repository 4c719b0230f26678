import { now } from '../../async/clock.js';
import { ErrorCode, Xid } from '../wire/codes.js';
import { JuteReader } from '../wire/jute.js';
import { FrameSplitter, readReplyHeader, readWatcherEvent, REPLY_HEADER_BYTES } from '../wire/records.js';
import type { ReplyHeader } from '../wire/records.js';
import { DriverState } from './driver.js';
import type { ConnectionManager } from './driver.js';
import { pendingRequestOf } from './pending-request.js';
import type { WatchEvent, WatchTables } from './watch-table.js';
import type { Answer } from './zookeeper-client.js';

/** ZooKeeper's codes for the events of watches. */
const EVENTS: Readonly<Record<number, WatchEvent>> = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'children' };

/** The listener of `Inbound`. */
export interface InboundListener {
  answered(answer: Answer): void;
  /** The server has accepted the last of the credentials. */
  authenticated(): void;
  /** Some bytes cannot be parsed. The bytes after them cannot be trusted either. */
  unreadable(error: unknown): void;
}

/**
 * Reads the data that the server sends, in place of the driver's own reader. Frames are split for each socket
 * separately, so that a partial frame cannot corrupt the next connection. No malformed reply throws into the socket.
 */
export class Inbound {
  readonly #driver: ConnectionManager;
  readonly #watches: WatchTables;
  readonly #listener: InboundListener;
  readonly #handshake: (frame: Buffer) => void;
  #frames = new FrameSplitter();
  #pingsSentAt: number[] = [];
  /** The number of credentials that the server has not yet accepted on this connection. */
  unconfirmedAuths = 0;

  /** Replaces `driver.onSocketData`. Only the handshake's reply is still passed to the driver. */
  constructor(driver: ConnectionManager, watches: WatchTables, listener: InboundListener) {
    this.#driver = driver;
    this.#watches = watches;
    this.#listener = listener;
    this.#handshake = driver.onSocketData.bind(driver);
    driver.onSocketData = (chunk) => {
      try {
        for (const frame of this.#frames.push(chunk)) this.#frame(frame);
      } catch (error) {
        listener.unreadable(error);
      }
    };
  }

  /** When the oldest unanswered ping was sent. */
  get oldestPingSentAt(): number | undefined {
    return this.#pingsSentAt[0];
  }

  pinged(): void {
    this.#pingsSentAt.push(now());
  }

  /** Discards partial data, because the socket is closed. */
  reset(): void {
    this.#frames = new FrameSplitter();
    this.#pingsSentAt = [];
  }

  #frame(frame: Buffer): void {
    if (this.#driver.state === DriverState.connecting) return this.#handshakeReply(frame);
    const header = readReplyHeader(frame);
    switch (header.xid) {
      case Xid.notification: {
        const { path, type } = readWatcherEvent(new JuteReader(frame, REPLY_HEADER_BYTES));
        return this.#watches.fire(path, EVENTS[type] ?? 'unknown');
      }
      case Xid.ping:
        return this.#pingReply();
      case Xid.auth:
        return this.#authReply(header);
      default:
        return this.#reply(header, frame);
    }
  }

  #handshakeReply(frame: Buffer): void {
    const length = Buffer.alloc(4);
    length.writeInt32BE(frame.length);
    this.#driver.pendingBuffer = null;
    this.#handshake(Buffer.concat([length, frame]));
  }

  #pingReply(): void {
    const sentAt = this.#pingsSentAt.shift();
    if (sentAt !== undefined) this.#listener.answered({ sentAt, receivedAt: now(), isQuorum: false });
  }

  #authReply(header: ReplyHeader): void {
    if (header.error !== ErrorCode.ok) return this.#driver.setState(DriverState.authFailed);
    this.unconfirmedAuths--;
    if (this.unconfirmedAuths === 0) this.#listener.authenticated();
  }

  #reply(header: ReplyHeader, frame: Buffer): void {
    const request = pendingRequestOf(this.#driver.pendingQueue.shift());
    if (request?.header.xid !== header.xid) {
      request?.fail(ErrorCode.connectionLoss);
      throw new Error(`reply ${header.xid} is not the one that is due`);
    }
    if (header.zxid > this.#driver.zxid.readBigInt64BE(0)) this.#driver.zxid = Buffer.from(frame.subarray(4, 12));
    const { sentAt } = request;
    const isQuorum = request.isQuorumAnswer(header.error);
    if (sentAt !== undefined) this.#listener.answered({ sentAt, receivedAt: now(), isQuorum });
    request.answer(header, frame);
    if (header.error === ErrorCode.sessionExpired) this.#driver.setState(DriverState.expired);
    if (header.error === ErrorCode.sessionMoved) this.#driver.socket?.destroy();
  }
}
