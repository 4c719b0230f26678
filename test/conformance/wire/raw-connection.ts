import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { TestedServer } from '../servers/tested-server.js';
import { FrameSplitter } from '../../../lib/zookeeper/wire/records.js';

/** A socket, and the frames that it receives. */
export class RawConnection {
  readonly #socket: Socket;
  readonly #patienceMs: number;
  readonly #splitter = new FrameSplitter();
  readonly #frames: Buffer[] = [];
  #isClosed = false;
  #changed = () => {};

  private constructor(socket: Socket, patienceMs: number) {
    this.#socket = socket.setNoDelay();
    this.#patienceMs = patienceMs;
    socket.on('data', (chunk: Buffer) => {
      this.#frames.push(...this.#splitter.push(chunk));
      this.#changed();
    });
    // A reset is one way to close; 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  /** @param patienceMs how long the server may take to answer or to close */
  static open({ port, patienceMs }: Pick<TestedServer, 'port' | 'patienceMs'>): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket, patienceMs));
      });
      socket.once('error', reject);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** The next frame without its length, or `undefined` once the server has closed. @throws Error when neither comes */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame || this.#isClosed) return frame;
      await this.#change();
    }
  }

  /** Closes the connection like a client that ends without closing its session; immediately with `reset`. */
  async drop(how: 'fin' | 'reset'): Promise<void> {
    if (how === 'fin') this.#socket.end();
    else this.#socket.resetAndDestroy();
    while (!this.#isClosed) await this.#change();
  }

  /** Stops reading from the server. */
  pause(): void {
    this.#socket.pause();
  }

  /** Reads from the server again. */
  resume(): void {
    this.#socket.resume();
  }

  /** Destroys the socket, whatever the server does. */
  destroy(): void {
    this.#socket.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`neither an answer nor an end within ${this.#patienceMs} ms`)),
        this.#patienceMs,
      );
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
