import type { Socket } from 'node:net';
import { monotonicNow, setTimer } from '../sessions/real-time.js';

/** What is said on one connection, in order. All of one turn leaves in one piece. */
export class Outbox {
  readonly #socket: Socket;
  readonly #taken: () => void;
  #frames: Buffer[] = [];
  #unsent = 0;
  #isScheduled = false;
  #isHeld = false;
  #delayMs = 0;
  #lastLeavesAt = 0;

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
    this.#schedule();
  }

  /** Everything arrives this much later. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Sends what there is, held or not, and closes. */
  end(): void {
    const bytes = this.#take();
    this.#later(() => {
      this.#write(bytes);
      this.#socket.destroySoon();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (this.#isHeld || this.#frames.length === 0) return;
      const bytes = this.#take();
      this.#later(() => this.#write(bytes));
    });
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

  /** Never before what was said earlier, also when that was delayed more. */
  #later(action: () => void): void {
    const now = monotonicNow();
    const leavesAt = Math.max(now + this.#delayMs, this.#lastLeavesAt);
    if (leavesAt <= now) return action();
    this.#lastLeavesAt = leavesAt;
    setTimer(action, leavesAt - now).unref();
  }
}
