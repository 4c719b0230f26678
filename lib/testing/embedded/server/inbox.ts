import type { Socket } from 'node:net';
import { FrameSplitter } from '../../../zookeeper/wire/frame-splitter.js';

const MOST_WAITING = 1_000;

/** What was heard on one connection and is still to be done. A client is not heard for as long as that is a lot. */
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

  /** @throws RangeError for what is not ZooKeeper's protocol, or more of it than allowed */
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
