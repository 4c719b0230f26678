import type { Socket } from 'node:net';
import { FrameSplitter } from '../../../zookeeper/wire/records.js';

const MOST_WAITING = 1_000;

/**
 * The requests that were received on one connection and are still to be handled. While there are many, nothing is read
 * from the client.
 */
export class Inbox {
  readonly #socket: Socket;
  readonly #splitter: FrameSplitter;
  #frames: Buffer[] = [];

  constructor(socket: Socket, maxBufferBytes: number) {
    this.#socket = socket;
    this.#splitter = new FrameSplitter(maxBufferBytes);
  }

  get isEmpty(): boolean {
    return this.#frames.length === 0;
  }

  /** @throws RangeError for bytes that are not ZooKeeper's protocol, or exceed its limits */
  push(bytes: Buffer): void {
    for (const frame of this.#splitter.push(bytes)) this.#frames.push(frame);
    if (this.#frames.length > MOST_WAITING) this.#socket.pause();
  }

  next(): Buffer | undefined {
    const frame = this.#frames.shift();
    if (this.#frames.length <= MOST_WAITING && this.#socket.isPaused()) this.#socket.resume();
    return frame;
  }

  clear(): void {
    this.#frames = [];
  }
}
