import type { Lease, LeaseMode } from '../contract/lease.js';
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
export interface TenureEnd {
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
export class Tenure {
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

  enter(mode: LeaseMode): Stay {
    if (mode === 'read') this.#readers++;
    else this.#others++;
    return new Stay(this, mode);
  }

  async left(mode: LeaseMode): Promise<void> {
    if (mode === 'read') this.#readers--;
    else this.#others--;
    if (this.#readers + this.#others === 0) await this.end.giveBack();
    else if (this.#others === 0 && this.mode === 'write') await (this.#downgrade = this.end.downgrade?.());
  }
}

/** Somebody's time inside a tenure. */
export class Stay {
  readonly #tenure: Tenure;
  readonly #mode: LeaseMode;
  #left: Promise<void> | undefined;
  #endState: 'lost' | 'released' | undefined;

  constructor(tenure: Tenure, mode: LeaseMode) {
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
