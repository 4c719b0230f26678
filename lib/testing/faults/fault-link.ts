import type { Socket } from 'node:net';

/** The direction in which bytes flow. */
export type Direction = 'toServer' | 'toClient';

/** The faults of one direction. All that are set apply at once. */
export interface Faults {
  /** The delay before bytes arrive, in milliseconds. */
  delayMs: number;
  /**
   * Bytes that were sent at this time or later are held back, as by a network that drops packets. TCP delivers them when
   * the fault is removed. By `performance.now()`.
   */
  blackHoleSince: number;
  /** Whether bytes are lost for ever. */
  isLossy: boolean;
  /** The most bytes that pass in a second. */
  bytesPerSecond: number;
  /** The connection is cut after this many more bytes, at whatever position of a message that is. */
  cutAfterBytes: number;
}

export function noFaults(): Faults {
  return {
    delayMs: 0,
    blackHoleSince: Infinity,
    isLossy: false,
    bytesPerSecond: Infinity,
    cutAfterBytes: Infinity,
  };
}

/** One event of a sending side: bytes, a regular close, or a reset. */
type Parcel = { readonly sent: Buffer | 'fin' | 'rst'; readonly sentAt: number };

// A throttled link sends pieces of this share of a second.
const PIECE_SHARE = 1 / 20;

/**
 * One direction of one connection. Forwards bytes from one socket to the other in order, subject to the current faults.
 */
export class FaultLink {
  readonly #to: Socket;
  readonly #faults: Faults;
  readonly #cut: () => void;
  readonly #parcels: Parcel[] = [];
  #isDelivering = false;
  #hasGap = false;
  #wake = () => {};

  constructor(from: Socket, to: Socket, faults: Faults, cut: () => void) {
    this.#to = to;
    this.#faults = faults;
    this.#cut = cut;
    from.on('data', (bytes: Buffer) => this.#take(bytes));
    from.on('end', () => this.#take('fin'));
    from.on('close', (hasError) => this.#take(hasError ? 'rst' : 'fin'));
  }

  /** Whether bytes in the middle of the stream were lost, so that what follows cannot be read. */
  get hasGap(): boolean {
    return this.#hasGap;
  }

  /** Whether no bytes are held back. */
  get isQuiet(): boolean {
    return !this.#isDelivering;
  }

  /** Called when the faults have changed: continues with bytes that were held back, if the faults now permit it. */
  refresh(): void {
    this.#wake();
  }

  #take(sent: Parcel['sent']): void {
    this.#parcels.push({ sent, sentAt: performance.now() });
    if (!this.#isDelivering) void this.#deliverAll();
  }

  async #deliverAll(): Promise<void> {
    this.#isDelivering = true;
    for (let parcel = this.#parcels.shift(); parcel; parcel = this.#parcels.shift()) await this.#deliver(parcel);
    this.#isDelivering = false;
  }

  async #deliver({ sent, sentAt }: Parcel): Promise<void> {
    await this.#passed(sentAt);
    if (this.#hasGap || this.#faults.isLossy) return void (this.#hasGap = true);
    if (sent === 'rst') this.#to.resetAndDestroy();
    else if (sent === 'fin') this.#to.end();
    else for (let rest = sent; rest.length > 0;) rest = rest.subarray(await this.#sendSome(rest, sentAt));
  }

  /** Resolves when bytes that were sent at `sentAt` may arrive. */
  #passed(sentAt: number): Promise<void> {
    return this.#until(() =>
      sentAt >= this.#faults.blackHoleSince ? Infinity : sentAt + this.#faults.delayMs - performance.now(),
    );
  }

  async #sendSome(bytes: Buffer, sentAt: number): Promise<number> {
    const startedAt = performance.now();
    const size = Math.min(bytes.length, Math.max(1, Math.floor(this.#faults.bytesPerSecond * PIECE_SHARE)));
    if (this.#faults.bytesPerSecond !== Infinity) {
      await this.#until(() => startedAt + (1_000 * size) / this.#faults.bytesPerSecond - performance.now());
      await this.#passed(sentAt);
    }
    const passed = bytes.subarray(0, Math.min(size, this.#faults.cutAfterBytes));
    if (this.#to.writable) this.#to.write(passed);
    this.#faults.cutAfterBytes -= passed.length;
    if (this.#faults.cutAfterBytes <= 0) this.#cut();
    return size;
  }

  async #until(msLeft: () => number): Promise<void> {
    for (let ms = msLeft(); ms > 0; ms = msLeft()) await this.#refreshedWithin(ms);
  }

  #refreshedWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
