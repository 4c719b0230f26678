/**
 * Orders that no single segment had enough for. They are served under the leases of all segments: what is there can be
 * added up, nobody takes or gives meanwhile, and what a killed process has left can be put back first. So "sold out"
 * is certain. Whoever of this process comes while the leases are waited for is served in the same round.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { Deferred } from '../async/deferred.js';
import type { SegmentedLock } from '../composite/segmented-lock.js';
import type { SegmentLease } from '../contract/segment-lease.js';
import type { Deduction } from './deduction.js';
import type { SegmentStore } from './segment-store.js';
import type { Order } from './stock-keeper.js';
import type { StoreTools } from './take-order.js';
import { WholeStock } from './whole-stock.js';

interface Waiting {
  readonly order: Order;
  readonly tools: StoreTools;
  readonly outcome: Deferred<Deduction | null>;
  isServed: boolean;
}

// A round works for callers whose contexts, and leases in them, are none of its business.
const outsideOfAll = AsyncLocalStorage.snapshot();

export class WholeRounds {
  readonly #lock: Pick<SegmentedLock, 'withAll'>;
  #waiting: Waiting[] = [];
  #isRunning = false;
  /** Ends the wait for the leases when nobody wants them any more. */
  #limit = new AbortController();

  constructor(lock: Pick<SegmentedLock, 'withAll'>) {
    this.#lock = lock;
  }

  get isIdle(): boolean {
    return !this.#isRunning;
  }

  /** Rejects with `order.signal`'s reason unless the order is being served then. */
  async settle(order: Order, tools: StoreTools): Promise<Deduction | null> {
    order.signal.throwIfAborted();
    const waiting: Waiting = { order, tools: inContext(tools), outcome: deferred(), isServed: false };
    const dispose = onAbort(order.signal, (reason) => this.#giveUp(waiting, reason));
    this.#waiting.push(waiting);
    if (!this.#isRunning) outsideOfAll(() => void this.#run());
    return waiting.outcome.promise.finally(dispose);
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      this.#limit = new AbortController();
      const { signal } = this.#limit;
      const round = this.#lock.withAll((leases) => this.#round(leases), { waitMs: Infinity, signal, onLost: 'ignore' });
      await round.catch((error: unknown) => {
        // Whoever has come since the others gave up is served in the next round.
        if (!signal.aborted) this.#waiting.splice(0).forEach(({ outcome }) => outcome.reject(error));
      });
    }
    this.#isRunning = false;
  }

  async #round(leases: readonly SegmentLease[]): Promise<void> {
    const [first] = this.#waiting;
    if (!first) return;
    const stock = await WholeStock.open(first.tools, leases);
    // Who comes from here on waits for the next round: others want the segments, too.
    for (let places = this.#waiting.length; places > 0 && stock.isHeld; places--) {
      const next = this.#waiting.shift();
      if (!next) return;
      next.isServed = true;
      await stock.serve(next.order, next.tools).then(next.outcome.resolve, next.outcome.reject);
    }
  }

  #giveUp(waiting: Waiting, reason: unknown): void {
    if (waiting.isServed) return;
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    waiting.outcome.reject(reason);
    if (this.#waiting.length === 0) this.#limit.abort(reason);
  }
}

/** The store, called as the order's caller would call it. */
function inContext({ store, ...tools }: StoreTools): StoreTools {
  const context = AsyncLocalStorage.snapshot();
  const bound: SegmentStore = {
    take: (request) => context(() => store.take(request)),
    putBack: (request) => context(() => store.putBack(request)),
  };
  return { ...tools, store: bound };
}
