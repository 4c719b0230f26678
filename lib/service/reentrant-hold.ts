import { orAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { LeaseView } from '../contract/lease.js';
import type { Lease, LeaseMode, LeaseState } from '../contract/lease.js';
import type { PermitDemand } from '../contract/lock-request.js';

/** The identity of a key in this process: the backend that grants it, and the backend's name of the key. */
export interface Holding {
  readonly scope: object;
  readonly identity: string;
  /** For a semaphore: the number of permits that are held or requested. */
  readonly permits?: PermitDemand | undefined;
  /** Whether the key is one of an atomic set. A call that holds such a set must not acquire anything else. */
  readonly isOfAtomicSet?: boolean;
}

/** Callbacks that end or change a re-entrant hold. */
interface HoldEnd {
  giveBack(): Promise<void>;
  /** Admits other readers as well. */
  downgrade?(): Promise<void>;
  /**
   * Calls back when the lease is lost, even if it was revoked before. The lease's signal reports only the first of the
   * two.
   */
  onLost?(listener: () => void): void;
}

/**
 * One granted lease and its participants. It is released with the last participant, so that no work runs without the
 * lock. When only readers remain in a writer's hold, it becomes a reader's.
 */
export class ReentrantHold {
  #readers = 0;
  #others = 0;
  #downgrade: Promise<void> | undefined;

  constructor(
    readonly lease: Lease,
    readonly holding: Holding | undefined,
    readonly end: HoldEnd,
  ) {}

  /** The mode in which participants may still join. */
  get mode(): LeaseMode {
    return this.#downgrade ? 'read' : this.lease.mode;
  }

  /**
   * Whether the lease has yet to be released. `false` after the last participant has left, or after an early release.
   */
  get isOpen(): boolean {
    return this.#readers + this.#others > 0 && this.lease.state !== 'released';
  }

  /** Whether more than one participant uses the full mode of the lease, not only its read access. */
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

/** One participation in a re-entrant hold. */
export class HoldShare {
  readonly #reentrantHold: ReentrantHold;
  readonly #mode: LeaseMode;
  #left: Promise<void> | undefined;
  #endState: 'lost' | 'released' | undefined;

  constructor(reentrantHold: ReentrantHold, mode: LeaseMode) {
    this.#reentrantHold = reentrantHold;
    this.#mode = mode;
  }

  /** The lease's state for this participant after it has left; `undefined` before. */
  get endState(): 'lost' | 'released' | undefined {
    return this.#endState;
  }

  /** Ends the participation. Resolves when it blocks no other contender any more. */
  leave(): Promise<void> {
    this.#endState ??= this.#reentrantHold.lease.state === 'lost' ? 'lost' : 'released';
    return (this.#left ??= this.#reentrantHold.left(this.#mode));
  }
}

/** The hold and the lease of a `HoldFrame` while it lasts. */
interface HoldSpan {
  readonly reentrantHold: ReentrantHold;
  /** The lease of the hold, as the code inside may use it. */
  readonly lease: Lease;
}

/** A part of an async context that runs inside a re-entrant hold. */
export class HoldFrame {
  #span: HoldSpan | undefined;
  #outer: HoldFrame | undefined;
  #isOver = false;
  #inLine = 0;
  #lastInLine: Promise<void> = Promise.resolve();

  /** @param span hold and lease; `undefined` if leases are acquired only later */
  constructor(span: HoldSpan | undefined, outer: HoldFrame | undefined) {
    this.#span = span;
    this.#outer = outer;
  }

  /**
   * Clears the references. Promises created inside refer to this object for as long as they live, and must not keep the
   * rest alive.
   */
  end(): void {
    this.#isOver = true;
    this.#span = undefined;
  }

  /** Inserts an outer `HoldFrame` for each member of `around`, and continues with `span`. */
  grow(span: HoldSpan, around: readonly HoldSpan[]): readonly HoldFrame[] {
    const frames: HoldFrame[] = [];
    for (const one of around) {
      this.#outer = new HoldFrame(one, this.#outer);
      frames.push(this.#outer);
    }
    this.#span = span;
    return frames;
  }

  get isActive(): boolean {
    return !this.#isOver;
  }

  get reentrantHold(): ReentrantHold | undefined {
    return this.#span?.reentrantHold;
  }

  get lease(): Lease | undefined {
    return this.#span?.lease;
  }

  /** The number of permits of a semaphore that its hold has. */
  get permits(): number {
    return this.reentrantHold?.holding?.permits?.count ?? 0;
  }

  /** The nearest enclosing `HoldFrame` that has not ended. */
  get outer(): HoldFrame | undefined {
    while (this.#outer && !this.#outer.isActive) this.#outer = this.#outer.outer;
    return this.#outer;
  }

  /** Whether nested work may still join: this part has not ended, and its lease has not been released. */
  get isOpen(): boolean {
    const { reentrantHold, lease } = this.#span ?? {};
    return reentrantHold !== undefined && reentrantHold.isOpen && lease?.state !== 'released';
  }

  /** Whether a nested call is inside already. */
  get isOccupied(): boolean {
    return this.#inLine > 0;
  }

  isFor(holding: Holding): boolean {
    const own = this.#span?.reentrantHold.holding;
    return own !== undefined && own.scope === holding.scope && own.identity === holding.identity;
  }

  /** Waits for earlier sibling calls. They share the lease, but run one after another. */
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

/** The lease as a nested call sees it: the outer call's lease, but releasing it has no effect. */
export class EnteredLease extends LeaseView {
  async release(): Promise<void> {}
}

/**
 * One participant's view of a re-entrant hold. Releasing it ends it for this participant; the lock is released with the
 * last one.
 */
export class StayingLease extends EnteredLease {
  readonly #reentrantHold: ReentrantHold;
  readonly #share: HoldShare;

  constructor(reentrantHold: ReentrantHold, share: HoldShare, mode: LeaseMode) {
    super(reentrantHold.lease, mode);
    this.#reentrantHold = reentrantHold;
    this.#share = share;
  }

  override get state(): LeaseState {
    return this.#share.endState ?? super.state;
  }

  override isHeld(): boolean {
    return this.#share.endState === undefined && super.isHeld();
  }

  override release(): Promise<void> {
    // With other writers inside, an early release ends the lease for them too, as with every lease that is released
    // early.
    return this.mode === 'write' && this.#reentrantHold.hasOthers
      ? this.#reentrantHold.lease.release()
      : this.#share.leave();
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** Returns the lease of a participant that continues to read, and releases it itself. A lost lease needs no release. */
export function readOnIn(reentrantHold: ReentrantHold): StayingLease {
  const share = reentrantHold.enter('read');
  const lease = new StayingLease(reentrantHold, share, 'read');
  if (lease.state === 'lost') void share.leave();
  else reentrantHold.end.onLost?.(() => void share.leave());
  return lease;
}
