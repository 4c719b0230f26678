import type { ServerOpName } from '../wire/server-op-codes.js';
import { askedFor } from '../requests/asked.js';

/** What goes wrong with a request: refused with a code; done, but the answer lost; lost before it was done. */
export type Fault =
  { readonly type: 'fail'; readonly code: number } | { readonly type: 'loseReply' } | { readonly type: 'loseRequest' };

/** Which requests a fault is meant for; one inside a transaction counts for all of it. */
export interface FaultTarget {
  readonly op: ServerOpName;
  /** Which paths; without it, any. */
  readonly path?: string | RegExp | undefined;
}

interface PlannedFault {
  readonly target: FaultTarget;
  readonly fault: Fault;
  /** To be called when it has. */
  readonly happened: () => void;
}

/** Faults that are to happen once, to the next request that they are meant for. */
export class PlannedFaults {
  readonly #planned: PlannedFault[] = [];

  /** Resolves when it has happened. */
  plan(target: FaultTarget, fault: Fault): Promise<void> {
    return new Promise((resolve) => {
      this.#planned.push({ target, fault, happened: resolve });
    });
  }

  clear(): void {
    this.#planned.length = 0;
  }

  /** The fault for this request, if one was planned. */
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
  // `search` looks from the start, also for an expression that remembers where it was.
  return typeof target.path === 'string' ? target.path === path : path.search(target.path) !== -1;
}
