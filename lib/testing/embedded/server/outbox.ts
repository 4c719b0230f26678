import type { Socket } from 'node:net';
import { Delayed } from '../sessions/delayed.js';
import { clearTimer, REAL_TIME, setTimer } from '../sessions/real-time.js';

/** The time in which a client must receive the last bytes before its connection is destroyed, in milliseconds. */
const GOODBYE_MS = 1_000;

/** The outgoing bytes of one connection, in order. All frames of one turn of the event loop are sent in one piece. */
export class Outbox {
  readonly #socket: Socket;
  readonly #taken: () => void;
  readonly #delayed = new Delayed(REAL_TIME);
  #delayMs = 0;
  #frames: Buffer[] = [];
  #unsent = 0;
  #isScheduled = false;
  #isHeld = false;
  #isEnding = false;

  /**
   * @param taken called whenever the other side has accepted bytes; 'drain' does not report bytes that it accepts at
   *   once
   */
  constructor(socket: Socket, taken: () => void) {
    this.#socket = socket;
    this.#taken = taken;
  }

  /** The number of bytes that the other side has not accepted yet, including those that are about to be sent. */
  get backlog(): number {
    return this.#unsent + this.#socket.writableLength;
  }

  get isEmpty(): boolean {
    return this.backlog === 0;
  }

  push(frame: Buffer): void {
    this.#frames.push(frame);
    this.#unsent += frame.length;
    this.#schedule();
  }

  /** Holds everything back until `release()`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    if (this.#isEnding) this.#leave();
    else this.#schedule();
  }

  /** Delays everything by this many milliseconds. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Sends what there is, and closes. While held back, this waits for `release()`. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (!this.#isHeld) this.#leave();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#isHeld || this.#frames.length === 0) return;
      const bytes = this.#take();
      this.#delayed.push(() => this.#write(bytes), this.#delayMs);
    });
  }

  #leave(): void {
    const bytes = this.#take();
    this.#delayed.push(() => {
      this.#write(bytes);
      this.#close();
    }, this.#delayMs);
  }

  /** A client that reads nothing must not keep its connection for ever. */
  #close(): void {
    this.#socket.destroySoon();
    const lastResort = setTimer(() => this.#socket.destroy(), GOODBYE_MS).unref();
    this.#socket.once('close', () => clearTimer(lastResort));
  }

  #write(bytes: Buffer): void {
    this.#unsent -= bytes.length;
    if (bytes.length > 0 && this.#socket.writable) this.#socket.write(bytes, this.#taken);
  }

  #take(): Buffer {
    const [only, ...others] = this.#frames;
    const bytes = only && others.length === 0 ? only : Buffer.concat(this.#frames);
    this.#frames = [];
    return bytes;
  }
}
