import type { Socket } from 'node:net';
import { Delayed } from '../sessions/delayed.js';
import { clearTimer, REAL_TIME, setTimer } from '../sessions/real-time.js';

/** So long a client that was sent a goodbye may take to hear it. */
const GOODBYE_MS = 1_000;

/** What is said on one connection, in order. All of one turn leaves in one piece. */
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

  /** @param taken called whenever the other side has taken something; 'drain' says nothing of what it takes at once */
  constructor(socket: Socket, taken: () => void) {
    this.#socket = socket;
    this.#taken = taken;
  }

  /** Bytes that the other side has not taken yet, those included that are about to leave. */
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

  /** Keeps everything until `release()`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    if (this.#isEnding) this.#leave();
    else this.#schedule();
  }

  /** Everything arrives this much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Sends what there is, and closes; not before `release()` while it is held. */
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

  /** A client that takes nothing must not keep its connection for ever. */
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
