import type { ServerOpName } from '../wire/server-op-codes.js';
import { askedFor } from '../requests/asked.js';

/**
 * A fault of a request:
 * - `fail`: it is refused with a code
 * - `loseReply`: it is executed, and its reply is lost
 * - `loseRequest`: it is lost before it is executed
 */
export type Fault =
  { readonly type: 'fail'; readonly code: number } | { readonly type: 'loseReply' } | { readonly type: 'loseRequest' };

/** The requests that a fault applies to. An operation inside a transaction selects the whole transaction. */
export interface FaultTarget {
  /** The kind of request. */
  readonly op: ServerOpName;
  /** The paths that are meant. Default: any. */
  readonly path?: string | RegExp | undefined;
}

interface PlannedFault {
  readonly target: FaultTarget;
  readonly fault: Fault;
  /** Called when the fault has happened. */
  readonly happened: () => void;
}

/** Faults that happen once each, to the next request that they apply to. */
export class PlannedFaults {
  readonly #planned: PlannedFault[] = [];

  /** Resolves when the fault has happened. */
  plan(target: FaultTarget, fault: Fault): Promise<void> {
    return new Promise((resolve) => {
      this.#planned.push({ target, fault, happened: resolve });
    });
  }

  clear(): void {
    this.#planned.length = 0;
  }

  /** Returns the planned fault of this request, if there is one. */
  take(request: Buffer): PlannedFault | undefined {
    if (this.#planned.length === 0) return undefined;
    const asked = askedFor(request);
    const at = this.#planned.findIndex(({ target }) => asked.some(({ op, path }) => isMeant(target, op, path)));
    const [planned] = at < 0 ? [] : this.#planned.splice(at, 1);
    return planned;
  }
}

function isMeant(target: FaultTarget, op: ServerOpName, path: string): boolean {
  if (target.op !== op) return false;
  if (target.path === undefined) return true;
  // `search` starts at the beginning, even for an expression that remembers a position.
  return typeof target.path === 'string' ? target.path === path : path.search(target.path) !== -1;
}
