import type { LeaseMode, LeaseState } from '../contract/lease.js';
import { EnteredLease } from './entered-lease.js';
import type { Stay, Tenure } from './tenure.js';

/** A lease as one who stays in a tenure sees it: given back, it is over for this one, and stands for those still inside. */
export class StayingLease extends EnteredLease {
  readonly #tenure: Tenure;
  readonly #stay: Stay;

  constructor(tenure: Tenure, stay: Stay, mode: LeaseMode) {
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
export function readOnIn(tenure: Tenure): StayingLease {
  const stay = tenure.enter('read');
  const lease = new StayingLease(tenure, stay, 'read');
  if (lease.state === 'lost') void stay.leave();
  else tenure.end.onLost?.(() => void stay.leave());
  return lease;
}
