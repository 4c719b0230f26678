import { ErrorCode } from '../wire/error-codes.js';
import { DriverState } from './driver.js';
import type { ConnectionManager } from './driver.js';
import { pendingRequestOf } from './pending-request.js';
import type { PendingRequest } from './pending-request.js';
import { MOST_BYTES } from './keeper-error.js';

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
    requests.forEach((request) => (request.bytes > MOST_BYTES ? request.refuse() : void this.add(request)));
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
