import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Which way bytes go. */
export type Direction = 'toServer' | 'toClient';

/** What is done to the bytes of one direction; all of it at once where more than one is set. */
export interface Faults {
  /** Bytes arrive this much later, in milliseconds. */
  delayMs: number;
  /** Bytes are kept back, as by a network that drops packets: TCP delivers them when the fault has gone. */
  isBlackHole: boolean;
  /** No more than this many bytes a second. */
  bytesPerSecond: number;
  /** After so many more bytes the connection is cut, wherever that falls. */
  cutAfterBytes: number;
}

export function noFaults(): Faults {
  return { delayMs: 0, isBlackHole: false, bytesPerSecond: Infinity, cutAfterBytes: Infinity };
}

/** One direction of one connection: bytes go from one socket to the other in order, through the faults of the moment. */
export class FaultLink {
  readonly #to: Socket;
  readonly #faults: Faults;
  readonly #cut: () => void;
  readonly #queue: Buffer[] = [];
  #isDelivering = false;
  #heal: (() => void) | undefined;

  constructor(from: Socket, to: Socket, faults: Faults, cut: () => void) {
    this.#to = to;
    this.#faults = faults;
    this.#cut = cut;
    from.on('data', (bytes: Buffer) => {
      this.#queue.push(bytes);
      void this.#deliver();
    });
    from.on('end', () => {
      if (!faults.isBlackHole) to.end();
    });
  }

  /** The faults have changed: goes on with what was kept back, if it may. */
  refresh(): void {
    this.#heal?.();
  }

  async #deliver(): Promise<void> {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let bytes = this.#queue[0]; bytes; bytes = this.#queue[0]) {
      await this.#passable();
      this.#queue.shift();
      await this.#send(bytes);
    }
    this.#isDelivering = false;
  }

  async #passable(): Promise<void> {
    if (this.#faults.delayMs > 0) await pause(this.#faults.delayMs);
    while (this.#faults.isBlackHole) await new Promise<void>((resolve) => (this.#heal = resolve));
  }

  async #send(bytes: Buffer): Promise<void> {
    const { bytesPerSecond, cutAfterBytes } = this.#faults;
    const passed = bytes.subarray(0, Math.min(bytes.length, cutAfterBytes));
    if (!this.#to.destroyed) this.#to.write(passed);
    this.#faults.cutAfterBytes -= passed.length;
    if (bytesPerSecond !== Infinity) await pause((1_000 * passed.length) / bytesPerSecond);
    if (this.#faults.cutAfterBytes <= 0) this.#cut();
  }
}
