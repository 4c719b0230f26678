import { ErrorCode } from '../wire/error-codes.js';
import { DriverState } from './driver.js';
import type { ConnectionManager } from './driver.js';
import { pendingRequestOf } from './pending-request.js';
import type { PendingRequest } from './pending-request.js';
import { MOST_BYTES } from './keeper-error.js';

const LARGEST_XID = 2 ** 30;

/**
 * The requests on their way through the driver: sent now, in one write, or failed, as those that no server takes; never
 * kept for another connection.
 */
export class RequestQueue {
  readonly #driver: ConnectionManager;

  constructor(driver: ConnectionManager) {
    this.#driver = driver;
  }

  /** When the request was sent that has been without an answer for longest. */
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

  /** Hands it to the driver, which sends it at once, or when the handshake is done. */
  add(request: PendingRequest): Promise<unknown> {
    if (this.#driver.xid >= LARGEST_XID) this.#driver.xid = 1;
    this.#driver.queue(request, () => request.fail(ErrorCode.connectionLoss));
    return request.reply;
  }

  /** The socket is gone: what was not sent never will be. */
  failUnsent(): void {
    const unsent = this.#driver.packetQueue.queue.splice(0);
    unsent.forEach((packet) => pendingRequestOf(packet)?.fail(ErrorCode.connectionLoss));
  }
}
