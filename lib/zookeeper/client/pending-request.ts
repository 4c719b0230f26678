import { now } from '../../async/clock.js';
import { ErrorCode, OpCode } from '../wire/codes.js';
import { JuteReader } from '../wire/jute.js';
import { REPLY_HEADER_BYTES, requestFrame } from '../wire/records.js';
import type { ReplyHeader } from '../wire/records.js';
import { DriverState } from './driver.js';
import type { ConnectionManager, DriverPacket, DriverRequest } from './driver.js';
import { KeeperError, MOST_BYTES, RequestTooLargeError } from './keeper-error.js';

export interface Reply {
  readonly zxid: bigint;
  readonly body: JuteReader;
}

// The size of the request's number and type.
const HEADER_BYTES = 8;

const READS: ReadonlySet<number> = new Set([
  OpCode.exists,
  OpCode.getData,
  OpCode.getChildren2,
  OpCode.sync,
  OpCode.removeWatches,
  OpCode.setWatches,
]);

// Refusals that the leader itself decided, as a transaction that a quorum agreed to.
const DECIDED: ReadonlySet<number> = new Set([
  ErrorCode.ok,
  ErrorCode.noNode,
  ErrorCode.badVersion,
  ErrorCode.nodeExists,
  ErrorCode.notEmpty,
]);

/** One request that the driver sends, and the promise of what `read` makes of its reply. */
export class PendingRequest<T = unknown> implements DriverRequest {
  readonly header: { readonly type: number; xid: number };
  readonly payload = null;
  readonly reply: Promise<T>;
  /** When the bytes were sent, on `now()`. The driver may hold a request back while the socket is full. */
  sentAt: number | undefined;
  /** The size of the request that the servers would have to accept, in bytes. */
  readonly bytes: number;
  readonly #body: Buffer;
  readonly #path: string | undefined;
  #resolve!: (reply: Reply) => void;
  #reject!: (error: unknown) => void;

  constructor(type: number, body: Buffer, path: string | undefined, read: (reply: Reply) => T) {
    this.header = { type, xid: 0 };
    this.bytes = HEADER_BYTES + body.length;
    this.#body = body;
    this.#path = path;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = (reply) => resolve(read(reply));
      this.#reject = reject;
    });
  }

  toBuffer(): Buffer {
    this.sentAt = now();
    return requestFrame(this.header.xid, this.header.type, this.#body);
  }

  answer(header: ReplyHeader, frame: Buffer): void {
    if (header.error !== ErrorCode.ok) return this.fail(header.error);
    try {
      this.#resolve({ zxid: header.zxid, body: new JuteReader(frame, REPLY_HEADER_BYTES) });
    } catch (unreadable) {
      this.#reject(unreadable);
    }
  }

  fail(code: number): void {
    this.#end(new KeeperError(code, this.#path));
  }

  /** Rejects the request without sending it. */
  refuse(): void {
    this.#end(new RequestTooLargeError(this.bytes));
  }

  /** Rejects the request. A reply that is received later is ignored. */
  #end(error: unknown): void {
    this.#resolve = () => {};
    this.#reject(error);
  }

  /** Whether a reply with this code proves that the leader had a quorum at that moment. */
  isQuorumAnswer(error: number): boolean {
    return !READS.has(this.header.type) && DECIDED.has(error);
  }
}

/**
 * The request inside a packet of the driver's queues. Every request there is a `PendingRequest`, except for the
 * driver's own `auth`.
 */
export function pendingRequestOf(packet: DriverPacket | undefined): PendingRequest | undefined {
  return packet?.request instanceof PendingRequest ? packet.request : undefined;
}

/** The reader of a reply without content. */
export function readNothing(): void {}

const LARGEST_XID = 2 ** 30;

/**
 * Hands requests to the driver. A request is sent now, in one write with the others, or fails at once. It also fails if
 * no server would accept its size. No request is kept for another connection.
 */
export class RequestQueue {
  readonly #driver: ConnectionManager;

  constructor(driver: ConnectionManager) {
    this.#driver = driver;
  }

  /** When the oldest unanswered request was sent. */
  get oldestSentAt(): number | undefined {
    return pendingRequestOf(this.#driver.pendingQueue[0])?.sentAt;
  }

  send(requests: readonly PendingRequest[]): void {
    const { socket, state } = this.#driver;
    if (state !== DriverState.connected) return requests.forEach((request) => request.fail(ErrorCode.connectionLoss));
    socket?.cork();
    for (const request of requests) {
      if (request.bytes > MOST_BYTES) request.refuse();
      else void this.add(request);
    }
    socket?.uncork();
  }

  /** Hands the request to the driver. The driver sends it at once, or when the handshake is done. */
  add(request: PendingRequest): Promise<unknown> {
    if (this.#driver.xid >= LARGEST_XID) this.#driver.xid = 1;
    this.#driver.queue(request, () => request.fail(ErrorCode.connectionLoss));
    return request.reply;
  }

  /** Fails the requests that were not sent before the socket closed. They are never sent later. */
  failUnsent(): void {
    const unsent = this.#driver.packetQueue.queue.splice(0);
    unsent.forEach((packet) => pendingRequestOf(packet)?.fail(ErrorCode.connectionLoss));
  }
}
