import type { Term } from '../contract/elections.js';
import { EnteredLease, heldLeases } from '../service/hold-scope.js';
import type { HeldTerm } from './held-term.js';

/** An application's term as seen by the work under it. Resigning ends it, but only when the work under it has ended. */
export class EnteredTerm extends EnteredLease implements Term {
  readonly #term: HeldTerm;
  readonly #stepDown: () => Promise<void>;

  constructor(term: HeldTerm, stepDown: () => Promise<void>) {
    super(term);
    this.#term = term;
    this.#stepDown = stepDown;
  }

  isOf(term: HeldTerm): boolean {
    return this.#term === term;
  }

  proclaim(value: string): Promise<void> {
    return this.#term.proclaim(value);
  }

  resign(): Promise<void> {
    return this.#stepDown();
  }
}

/**
 * Returns the term that the running code is under, inside a method with `@LeaderOnly` or `@OnElected`; the innermost
 * when nested. Returns `undefined` elsewhere, also in work that was started there, not awaited, and outlived it.
 */
export function currentTerm(): Term | undefined {
  for (const lease of heldLeases()) if (lease instanceof EnteredTerm) return lease;
  return undefined;
}

/** Whether the running code is under this very term. */
export function isUnder(term: HeldTerm): boolean {
  for (const lease of heldLeases()) if (lease instanceof EnteredTerm && lease.isOf(term)) return true;
  return false;
}
