import { orAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { LeaseView } from '../contract/lease.js';
import type { Lease, LeaseMode, LeaseState } from '../contract/lease.js';
import type { PermitDemand } from '../contract/lock-request.js';

/** What identifies a key in this process: the backend that grants it and the name that the backend gives it. */
export interface Holding {
  readonly scope: object;
  readonly identity: string;
  /** Of a semaphore: how many permits are held, or wanted. */
  readonly permits?: PermitDemand | undefined;
  /** Whether it is one of a set that must be all that its call asks for. */
  readonly isOfAtomicSet?: boolean;
}

/** What ends a tenure, and what can become of it before. */
interface TenureEnd {
  giveBack(): Promise<void>;
  /** Lets others read as well. */
  downgrade?(): Promise<void>;
  /** Calls back when the lease is lost, revoked before or not; its signal tells only the first of the two. */
  onLost?(listener: () => void): void;
}

/**
 * One granted lease and those inside it: given back when the last of them has left, so nobody works on unlocked. When
 * none but readers are left in a writer's, it becomes a reader's.
 */
export class ReentrantHold {
  #readers = 0;
  #others = 0;
  #downgrade: Promise<void> | undefined;

  constructor(
    readonly lease: Lease,
    readonly holding: Holding | undefined,
    readonly end: TenureEnd,
  ) {}

  /** As what one may still come in. */
  get mode(): LeaseMode {
    return this.#downgrade ? 'read' : this.lease.mode;
  }

  /** Whether the lease is still to be given back: not after the last has left, nor after somebody did it early. */
  get isOpen(): boolean {
    return this.#readers + this.#others > 0 && this.lease.state !== 'released';
  }

  /** Whether more than one is inside who needs all of what the lease's mode gives. */
  get hasOthers(): boolean {
    return this.#others > 1;
  }

  enter(mode: LeaseMode): HoldShare {
    if (mode === 'read') this.#readers++;
    else this.#others++;
    return new HoldShare(this, mode);
  }

  async left(mode: LeaseMode): Promise<void> {
    if (mode === 'read') this.#readers--;
    else this.#others--;
    if (this.#readers + this.#others === 0) await this.end.giveBack();
    else if (this.#others === 0 && this.mode === 'write') await (this.#downgrade = this.end.downgrade?.());
  }
}

/** Somebody's time inside a tenure. */
export class HoldShare {
  readonly #tenure: ReentrantHold;
  readonly #mode: LeaseMode;
  #left: Promise<void> | undefined;
  #endState: 'lost' | 'released' | undefined;

  constructor(tenure: ReentrantHold, mode: LeaseMode) {
    this.#tenure = tenure;
    this.#mode = mode;
  }

  /** What the lease is for the one who stayed, once that is over. */
  get endState(): 'lost' | 'released' | undefined {
    return this.#endState;
  }

  /** Resolves when nobody is kept waiting any more by this one. */
  leave(): Promise<void> {
    this.#endState ??= this.#tenure.lease.state === 'lost' ? 'lost' : 'released';
    return (this.#left ??= this.#tenure.left(this.#mode));
  }
}

/** What a frame is about while it lasts. */
interface HoldSpan {
  readonly tenure: ReentrantHold;
  /** The tenure's lease, as this stretch may use it. */
  readonly lease: Lease;
}

/** A stretch of one async context that runs inside a tenure. */
export class HoldFrame {
  #stretch: HoldSpan | undefined;
  #outer: HoldFrame | undefined;
  #isOver = false;
  #inLine = 0;
  #lastInLine: Promise<void> = Promise.resolve();

  /** @param stretch none where the leases come while the frame lasts */
  constructor(stretch: HoldSpan | undefined, outer: HoldFrame | undefined) {
    this.#stretch = stretch;
    this.#outer = outer;
  }

  /** Empties the frame: promises made inside refer to it for as long as they live, and must not keep all that was. */
  end(): void {
    this.#isOver = true;
    this.#stretch = undefined;
  }

  /** Puts frames of further leases around this one, which goes on with `stretch`. */
  grow(stretch: HoldSpan, around: readonly HoldSpan[]): readonly HoldFrame[] {
    const frames: HoldFrame[] = [];
    for (const one of around) {
      this.#outer = new HoldFrame(one, this.#outer);
      frames.push(this.#outer);
    }
    this.#stretch = stretch;
    return frames;
  }

  get isActive(): boolean {
    return !this.#isOver;
  }

  get tenure(): ReentrantHold | undefined {
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
  get outer(): HoldFrame | undefined {
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

/** A lease as a nested call sees it: the outer call's in everything, but not its to give back. */
export class EnteredLease extends LeaseView {
  async release(): Promise<void> {}
}

/** A lease as one who stays in a tenure sees it: given back, it is over for this one, and stands for those still inside. */
export class StayingLease extends EnteredLease {
  readonly #tenure: ReentrantHold;
  readonly #stay: HoldShare;

  constructor(tenure: ReentrantHold, stay: HoldShare, mode: LeaseMode) {
    super(tenure.lease, mode);
    this.#tenure = tenure;
    this.#stay = stay;
  }

  override get state(): LeaseState {
    return this.#stay.endState ?? super.state;
  }

  override isHeld(): boolean {
    return this.#stay.endState === undefined && super.isHeld();
  }

  override release(): Promise<void> {
    // What others who came to write are in the middle of is over as well, as with every lease that is given back early.
    return this.mode === 'write' && this.#tenure.hasOthers ? this.#tenure.lease.release() : this.#stay.leave();
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** The lease of one who reads on in a tenure, and gives it back itself; or need not, once it is lost. */
export function readOnIn(tenure: ReentrantHold): StayingLease {
  const stay = tenure.enter('read');
  const lease = new StayingLease(tenure, stay, 'read');
  if (lease.state === 'lost') void stay.leave();
  else tenure.end.onLost?.(() => void stay.leave());
  return lease;
}
