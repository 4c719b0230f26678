import { orAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import type { Lease } from '../contract/lease.js';
import type { Holding, Tenure } from './tenure.js';

/** What a frame is about while it lasts. */
interface Stretch {
  readonly tenure: Tenure;
  /** The tenure's lease, as this stretch may use it. */
  readonly lease: Lease;
}

/** A stretch of one async context that runs inside a tenure. */
export class Frame {
  #stretch: Stretch | undefined;
  #outer: Frame | undefined;
  #isOver = false;
  #inLine = 0;
  #lastInLine: Promise<void> = Promise.resolve();

  /** @param stretch none where the leases come while the frame lasts */
  constructor(stretch: Stretch | undefined, outer: Frame | undefined) {
    this.#stretch = stretch;
    this.#outer = outer;
  }

  /** Empties the frame: promises made inside refer to it for as long as they live, and must not keep all that was. */
  end(): void {
    this.#isOver = true;
    this.#stretch = undefined;
  }

  /** Puts frames of further leases around this one, which goes on with `stretch`. */
  grow(stretch: Stretch, around: readonly Stretch[]): readonly Frame[] {
    const frames: Frame[] = [];
    for (const one of around) {
      this.#outer = new Frame(one, this.#outer);
      frames.push(this.#outer);
    }
    this.#stretch = stretch;
    return frames;
  }

  get isActive(): boolean {
    return !this.#isOver;
  }

  get tenure(): Tenure | undefined {
    return this.#stretch?.tenure;
  }

  get lease(): Lease | undefined {
    return this.#stretch?.lease;
  }

  /** How many permits of a semaphore its tenure holds. */
  get permits(): number {
    return this.tenure?.holding?.permits?.count ?? 0;
  }

  /** The nearest frame that this one is nested in and that has not ended. */
  get outer(): Frame | undefined {
    while (this.#outer && !this.#outer.isActive) this.#outer = this.#outer.outer;
    return this.#outer;
  }

  /** Whether work may still enter: the frame has not ended, nor has its lease been given back. */
  get isOpen(): boolean {
    const { tenure, lease } = this.#stretch ?? {};
    return tenure !== undefined && tenure.isOpen && lease?.state !== 'released';
  }

  /** Whether a nested call is inside already. */
  get isOccupied(): boolean {
    return this.#inLine > 0;
  }

  isFor(holding: Holding): boolean {
    const own = this.#stretch?.tenure.holding;
    return own !== undefined && own.scope === holding.scope && own.identity === holding.identity;
  }

  /** Waits for the siblings that came before: they share the lease, but run one after another. */
  async turn(signal: AbortSignal): Promise<Dispose> {
    const previous = this.#lastInLine;
    let pass!: (to?: Promise<void>) => void;
    this.#lastInLine = new Promise((resolve) => (pass = resolve));
    this.#inLine++;
    const leave = () => {
      this.#inLine--;
      pass(previous);
    };
    return orAbort(previous, signal).then(
      () => leave,
      (reason: unknown) => {
        leave();
        throw reason;
      },
    );
  }
}
