/**
 * One driver instance, one session: the driver's connection loop with the parts replaced that break a lock.
 * - frames are cut for each socket, so that a reply cut in the middle can not poison the next connection;
 * - an attempt has one deadline for connecting and for the handshake;
 * - authentication and watches go out before anything else on a new connection;
 * - what was not sent when a connection ends is never sent later;
 * - closing ends in every state.
 */
import { after, settledWithin } from '../../async/timer.js';
import type { Dispose } from '../../async/abort.js';
import { now } from '../../async/clock.js';
import { ErrorCode } from '../wire/error-codes.js';
import { FrameSplitter } from '../wire/frame-splitter.js';
import { JuteReader } from '../wire/jute.js';
import { OpCode, Xid } from '../wire/op-codes.js';
import { readReplyHeader, readWatcherEvent, REPLY_HEADER_BYTES, requestFrame } from '../wire/records.js';
import type { ReplyHeader } from '../wire/records.js';
import type { ServerAddress } from './connect-string.js';
import { DriverState, openDriver } from './driver.js';
import type { ConnectionManager } from './driver.js';
import { PendingRequest, pendingRequestOf } from './pending-request.js';
import type { Reply } from './pending-request.js';
import { KeeperError } from './keeper-error.js';
import { ServerRotation } from './server-rotation.js';
import { setWatchesBodies } from './set-watches.js';
import { watchEventOf } from './watch-table.js';
import type { WatchTable } from './watch-table.js';
import type { ClientListener, SessionEnd } from './zookeeper-client.js';

const EMPTY = Buffer.alloc(0);
const LARGEST_XID = 2 ** 30;
const SHORTEST_ATTEMPT_MS = 250;

export interface ConnectionOptions {
  readonly servers: readonly ServerAddress[];
  readonly sessionTimeoutMs: number;
  readonly auth: readonly { readonly scheme: string; readonly credentials: string }[];
}

export class Connection {
  readonly #driver: ConnectionManager;
  readonly #rotation: ServerRotation;
  readonly #watches: WatchTable;
  readonly #listener: ClientListener;
  #frames = new FrameSplitter();
  #pings: number[] = [];
  #handshakeSentAt = 0;
  #sessionId = 0n;
  #isUp = false;
  #hasEnded = false;
  #cancelAttempt: Dispose = () => {};
  lastError: Error | undefined;

  constructor(options: ConnectionOptions, watches: WatchTable, listener: ClientListener) {
    this.#driver = openDriver(options.servers, options.sessionTimeoutMs);
    this.#rotation = new ServerRotation(options.servers);
    this.#watches = watches;
    this.#listener = listener;
    for (const { scheme, credentials } of options.auth) this.#driver.addAuthInfo(scheme, Buffer.from(credentials));
    this.#replaceInternals();
  }

  open(): void {
    this.#driver.connect();
  }

  get unansweredSince(): number | undefined {
    const oldest = pendingRequestOf(this.#driver.pendingQueue[0])?.sentAt;
    const ping = this.#pings[0];
    return oldest === undefined || ping === undefined ? (oldest ?? ping) : Math.min(oldest, ping);
  }

  /** Sends now or not at all. */
  async request(type: OpCode, body: Buffer, path?: string): Promise<Reply> {
    if (this.#driver.state !== DriverState.connected) throw new KeeperError(ErrorCode.connectionLoss, path);
    return this.#queue(new PendingRequest(type, body, path));
  }

  ping(): void {
    if (this.#driver.state !== DriverState.connected) return;
    this.#pings.push(now());
    this.#driver.socket?.write(requestFrame(Xid.ping, OpCode.ping, EMPTY));
  }

  drop(): void {
    this.#driver.socket?.destroy();
  }

  async close(deadlineMs: number): Promise<void> {
    if (this.#hasEnded) return;
    if (this.#driver.state === DriverState.connected) {
      const goodbye = this.request(OpCode.closeSession, EMPTY);
      this.#stopReconnecting();
      await settledWithin(goodbye, deadlineMs);
    }
    this.#end('closed');
  }

  #replaceInternals(): void {
    const driver = this.#driver;
    const { onSocketConnected, onSocketData, onSocketClosed, onSocketError, updateTimeout } = driver;
    const handshake = onSocketData.bind(driver);
    driver.onSocketTimeout = () => {};
    driver.findNextServer = (callback) => this.#rotation.next((server) => this.#attempt(() => callback(server)));
    driver.updateTimeout = (sessionTimeoutMs) => {
      updateTimeout.call(driver, sessionTimeoutMs);
      driver.connectTimeout = attemptMs(sessionTimeoutMs);
    };
    driver.onSocketConnected = () => {
      driver.packetQueue.queue.length = 0;
      this.#handshakeSentAt = now();
      onSocketConnected.call(driver);
      this.#resetWatches();
    };
    driver.onSocketData = (chunk) => this.#receive(chunk, handshake);
    driver.onSocketError = (error) => {
      this.lastError = error;
      onSocketError.call(driver, error);
    };
    driver.onSocketClosed = (hasError) => {
      this.#forgetSocket();
      onSocketClosed.call(driver, hasError);
    };
    driver.on('state', (state) => this.#stateChanged(state));
    driver.updateTimeout(driver.sessionTimeout);
  }

  #attempt(connect: () => void): void {
    connect();
    this.#cancelAttempt = after(attemptMs(this.#driver.sessionTimeout), () => {
      this.lastError = new Error('the server accepted the connection but not the session in time');
      this.drop();
    });
  }

  #queue(request: PendingRequest): Promise<Reply> {
    if (this.#driver.xid >= LARGEST_XID) this.#driver.xid = 1;
    this.#driver.queue(request, () => request.fail(this.#lossCode()));
    return request.reply;
  }

  #lossCode(): number {
    return this.#driver.state === DriverState.expired ? ErrorCode.sessionExpired : ErrorCode.connectionLoss;
  }

  #resetWatches(): void {
    const relativeZxid = this.#driver.zxid.readBigInt64BE(0);
    for (const body of setWatchesBodies(relativeZxid, this.#watches.paths)) {
      this.#queue(new PendingRequest(OpCode.setWatches, body)).catch(() => {});
    }
  }

  #receive(chunk: Buffer, handshake: (frame: Buffer) => void): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#frame(frame, handshake);
    } catch (error) {
      // A frame that cannot be read: whatever comes behind it can not be trusted either.
      this.lastError = error instanceof Error ? error : new Error(String(error));
      this.drop();
    }
  }

  #frame(frame: Buffer, handshake: (frame: Buffer) => void): void {
    if (this.#driver.state !== DriverState.connecting) return this.#reply(readReplyHeader(frame), frame);
    const length = Buffer.alloc(4);
    length.writeInt32BE(frame.length);
    this.#driver.pendingBuffer = null;
    handshake(Buffer.concat([length, frame]));
  }

  #reply(header: ReplyHeader, frame: Buffer): void {
    switch (header.xid) {
      case Xid.notification: {
        const event = readWatcherEvent(new JuteReader(frame, REPLY_HEADER_BYTES));
        return this.#watches.fire(event.path, watchEventOf(event.type));
      }
      case Xid.ping:
        return this.#answered(this.#pings.shift(), false);
      case Xid.auth:
        if (header.error !== ErrorCode.ok) this.#driver.setState(DriverState.authFailed);
        return;
      default:
        this.#answer(header, frame);
    }
  }

  #answer(header: ReplyHeader, frame: Buffer): void {
    const request = pendingRequestOf(this.#driver.pendingQueue.shift());
    if (request?.header.xid !== header.xid) {
      request?.fail(ErrorCode.connectionLoss);
      throw new Error(`reply ${header.xid} is not the one that is due`);
    }
    if (header.zxid > this.#driver.zxid.readBigInt64BE(0)) this.#driver.zxid = frame.subarray(4, 12);
    this.#answered(request.sentAt, request.isQuorumAnswer(header.error));
    request.answer(header, frame);
    if (header.error === ErrorCode.sessionExpired) this.#driver.setState(DriverState.expired);
    if (header.error === ErrorCode.sessionMoved) this.drop();
  }

  #answered(sentAt: number | undefined, isQuorum: boolean): void {
    if (sentAt !== undefined) this.#listener.answered({ sentAt, receivedAt: now(), isQuorum });
  }

  #stateChanged(state: number): void {
    if (state === DriverState.connected) return this.#connected();
    if (state === DriverState.expired) return this.#end('expired');
    if (state === DriverState.authFailed) return this.#end('authentication failed');
    if (state !== DriverState.disconnected || !this.#isUp) return;
    this.#isUp = false;
    if (!this.#hasEnded) this.#listener.disconnected();
  }

  #connected(): void {
    const sessionId = this.#driver.sessionId.readBigInt64BE(0);
    if (this.#sessionId !== 0n && sessionId !== this.#sessionId) return this.#end('replaced by the server');
    this.#sessionId = sessionId;
    this.#isUp = true;
    this.#cancelAttempt();
    this.#rotation.succeeded();
    const { sessionTimeout: timeoutMs } = this.#driver;
    this.#listener.connected({ sessionId, timeoutMs, sentAt: this.#handshakeSentAt });
  }

  #end(why: SessionEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopReconnecting();
    this.drop();
    this.#watches.clear();
    this.#listener.ended(why);
  }

  /** In this state the driver neither reconnects when its socket closes nor takes requests. */
  #stopReconnecting(): void {
    this.#rotation.stop();
    this.#cancelAttempt();
    clearTimeout(this.#driver.connectTimeoutHandler ?? undefined);
    this.#driver.state = DriverState.closing;
  }

  #forgetSocket(): void {
    this.#cancelAttempt();
    this.#frames = new FrameSplitter();
    this.#pings = [];
    const unsent = this.#driver.packetQueue.queue.splice(0);
    unsent.forEach((packet) => pendingRequestOf(packet)?.fail(this.#lossCode()));
  }
}

function attemptMs(sessionTimeoutMs: number): number {
  return Math.max(SHORTEST_ATTEMPT_MS, sessionTimeoutMs / 6);
}
