import { now } from '../../async/clock.js';
import { ErrorCode } from '../wire/error-codes.js';
import { FrameSplitter } from '../wire/frame-splitter.js';
import { JuteReader } from '../wire/jute.js';
import { Xid } from '../wire/op-codes.js';
import { readReplyHeader, readWatcherEvent, REPLY_HEADER_BYTES } from '../wire/records.js';
import type { ReplyHeader } from '../wire/records.js';
import { DriverState } from './driver.js';
import type { ConnectionManager } from './driver.js';
import { pendingRequestOf } from './pending-request.js';
import { watchEventOf } from './watch-table.js';
import type { WatchTables } from './watch-table.js';
import type { Answer } from './zookeeper-client.js';

/** What `Inbound` reports. */
export interface InboundListener {
  answered(answer: Answer): void;
  /** The server has accepted the last of the credentials. */
  authenticated(): void;
  /** Something that cannot be read: what comes behind it can not be trusted either. */
  unreadable(error: unknown): void;
}

/**
 * What the server sends, in place of the driver's own reading: frames are cut for each socket, so that one cut in the
 * middle can not poison the next connection, and no reply, however odd, throws into the socket.
 */
export class Inbound {
  readonly #driver: ConnectionManager;
  readonly #watches: WatchTables;
  readonly #listener: InboundListener;
  readonly #handshake: (frame: Buffer) => void;
  #frames = new FrameSplitter();
  #pingsSentAt: number[] = [];
  /** How many credentials the server still has to accept on this connection. */
  unconfirmedAuths = 0;

  /** Takes over `driver.onSocketData`; only the handshake's reply still goes to the driver. */
  constructor(driver: ConnectionManager, watches: WatchTables, listener: InboundListener) {
    this.#driver = driver;
    this.#watches = watches;
    this.#listener = listener;
    this.#handshake = driver.onSocketData.bind(driver);
    driver.onSocketData = (chunk) => {
      try {
        this.#frames.push(chunk).forEach((frame) => this.#frame(frame));
      } catch (error) {
        listener.unreadable(error);
      }
    };
  }

  /** When the ping was sent that has been without an answer for longest. */
  get oldestPingSentAt(): number | undefined {
    return this.#pingsSentAt[0];
  }

  pinged(): void {
    this.#pingsSentAt.push(now());
  }

  /** The socket is gone: what it began to say will not be continued. */
  reset(): void {
    this.#frames = new FrameSplitter();
    this.#pingsSentAt = [];
  }

  #frame(frame: Buffer): void {
    if (this.#driver.state !== DriverState.connecting) return this.#message(readReplyHeader(frame), frame);
    const length = Buffer.alloc(4);
    length.writeInt32BE(frame.length);
    this.#driver.pendingBuffer = null;
    this.#handshake(Buffer.concat([length, frame]));
  }

  #message(header: ReplyHeader, frame: Buffer): void {
    switch (header.xid) {
      case Xid.notification: {
        const event = readWatcherEvent(new JuteReader(frame, REPLY_HEADER_BYTES));
        return this.#watches.fire(event.path, watchEventOf(event.type));
      }
      case Xid.ping:
        return this.#answered(this.#pingsSentAt.shift(), false);
      case Xid.auth:
        return this.#authReply(header);
      default:
        return this.#reply(header, frame);
    }
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
    this.#answered(request.sentAt, request.isQuorumAnswer(header.error));
    request.answer(header, frame);
    if (header.error === ErrorCode.sessionExpired) this.#driver.setState(DriverState.expired);
    if (header.error === ErrorCode.sessionMoved) this.#driver.socket?.destroy();
  }

  #answered(sentAt: number | undefined, isQuorum: boolean): void {
    if (sentAt !== undefined) this.#listener.answered({ sentAt, receivedAt: now(), isQuorum });
  }
}
