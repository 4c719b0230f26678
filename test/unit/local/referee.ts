import assert from 'node:assert/strict';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';

type Mode = 'exclusive' | 'read' | 'write';

/** A caller of the model, and what it does. */
export interface Caller {
  readonly process: number;
  readonly mode: Mode;
  readonly isTry: boolean;
  readonly keepMs: number;
  /** The number of turns of the event loop for which it holds. */
  readonly holdsFor: number;
  /** The number of turns after which the caller gives up. `undefined`: never. */
  readonly givesUpAfter: number | undefined;
}

/** The invariants, checked at each grant. */
export class Referee {
  readonly #held: GrantedLease[] = [];
  readonly #waiting: { readonly caller: Caller; readonly number: number }[] = [];
  #largest = { exclusive: 0n, any: 0n };

  waits(caller: Caller, number: number): () => void {
    const entry = { caller, number };
    this.#waiting.push(entry);
    return () => {
      const place = this.#waiting.indexOf(entry);
      if (place >= 0) this.#waiting.splice(place, 1);
    };
  }

  granted({ process, mode, isTry }: Caller, number: number, lease: GrantedLease): void {
    const others = this.#held.filter((other) => other.isHeld());
    const mayNotBe = others.filter((other) => mode !== 'read' || other.mode !== 'read');
    assert.deepEqual(mayNotBe, [], 'somebody else holds');
    const earlier = this.#waiting.filter(
      (each) => each.number < number && each.caller.process === process && each.caller.mode === mode,
    );
    // Readers hold together, so the order in which they are notified does not matter.
    assert.deepEqual(isTry || mode === 'read' ? [] : earlier, [], 'somebody was before');
    const bound = mode === 'read' ? this.#largest.exclusive : this.#largest.any;
    assert.ok(lease.fencingToken > bound, 'the token does not grow');
    this.#largest.any = max(this.#largest.any, lease.fencingToken);
    if (mode !== 'read') this.#largest.exclusive = lease.fencingToken;
    this.#held.push(lease);
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
