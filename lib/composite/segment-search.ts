/**
 * Finds a segment that can be had: first by asking a few, each once, then in the line of one.
 *
 * Segments that callers of this very process are at are not asked: they are busy, and that is known for free. Of the
 * others three are asked, and none for a while after that was in vain: a try that fails is three requests for nothing, and
 * who does it when everything is busy only takes from those who work. Measured with four instances and 16 segments, 64
 * callers who stay 5 ms: 920 calls/s if all of them try, 1,380 with this rule, 1,520 if nobody tries. But of 24 callers who
 * stay 100 ms, half wait for 100 ms and more if nobody tries, 70 ms with this rule, 20 ms if all of them try.
 *
 * Who has waited long and knows of a segment that may be free leaves the line to look around, tries twice as many, and has
 * twice the patience after that. Servers at their limit, sixteen instances and 200 callers who stay 20 ms: a first patience
 * of 250 ms halves the calls/s, one of 500 ms does no harm. When 14 of 16 segments are held for good, it is 0.5 s on average
 * until one of the others is found.
 */
import { onAbort, orAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { after } from '../async/timer.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockLostError, LockTimeoutError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment.options.js';
import type { HeldSegment } from './held-segment.js';
import { leastBusy } from './segment-route.js';
import { isAmong, segmentOf } from './segment-setting.js';
import type { SegmentSetting } from './segment-setting.js';
import type { KeyLoad } from './segment.js';

const FIRST_TRIES = 3;
const FIRST_PATIENCE_MS = 500;

/** What holding a segment came to: what was wanted, or the count that the key really has. */
export type Outcome<T> = { readonly got: T } | { readonly recorded: number };

/** `undefined`: the segment is busy. */
export type Visit<T> = Outcome<T> | undefined;

/** How to ask for a segment: once, or in its line until `signal` aborts. */
export interface VisitLimits {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Aborts when the whole search is over. */
  readonly limit: AbortSignal;
  /** To be called as soon as the segment is granted, before anything is done under the lease. */
  readonly granted: () => void;
}

export type VisitSegment<T> = (segment: number, limits: VisitLimits) => Promise<Visit<T>>;

export interface Search {
  /** Where to look, the preferred first; at least one. */
  readonly candidates: readonly number[];
  readonly load: KeyLoad;
  /** `false`: every candidate is asked, and nobody stands in line. */
  readonly waits: boolean;
  readonly signal: AbortSignal;
}

/** @returns `undefined` when it does not wait and nothing was free. @throws `signal.reason` */
export async function visitUntilFound<T>(search: Search, visit: VisitSegment<T>): Promise<Visit<T>> {
  const tour = around(search.candidates);
  if (!search.waits) return tryNext(search, tour, Infinity, visit);
  for (let effort = 1; ; effort *= 2) {
    const found = (await tryFew(search, tour, effort, visit)) ?? (await waitAtOne(search, effort, visit));
    if (found) return found;
  }
}

async function tryFew<T>(search: Search, tour: Tour, effort: number, visit: VisitSegment<T>): Promise<Visit<T>> {
  const { candidates, load } = search;
  // With one candidate the wait is the try.
  if (candidates.length === 1 || (effort === 1 && load.isFull())) return undefined;
  return tryNext(search, tour, FIRST_TRIES * effort, visit);
}

/** Asks the next ones of the tour, each at most once, as far as they are not known to be busy. */
async function tryNext<T>(search: Search, tour: Tour, most: number, visit: VisitSegment<T>): Promise<Visit<T>> {
  const { candidates, load, signal } = search;
  const limits = { waitMs: 0, signal, limit: signal, granted: () => load.triedWithSuccess() };
  let tries = 0;
  for (let seen = 0; seen < candidates.length && tries < most; seen++) {
    const segment = tour.next().value;
    if (load.callers().has(segment)) continue;
    tries++;
    const tried = await visit(segment, limits);
    if (tried) return tried;
  }
  if (tries > 0) load.triedInVain();
  return undefined;
}

/** The candidates, over and over. */
type Tour = Generator<number, never>;

function* around(candidates: readonly number[]): Tour {
  for (;;) yield* candidates;
}

async function waitAtOne<T>(search: Search, effort: number, visit: VisitSegment<T>): Promise<Visit<T>> {
  const { candidates, load, signal: limit } = search;
  const segment = leastBusy(candidates, load.callers());
  const isHope = () => !load.isFull() && candidates.some((other) => other !== segment && !load.callers().has(other));
  const ending = new AbortController();
  const ranOut = Symbol('patience ran out');
  const cancel = afterOnce(isHope, FIRST_PATIENCE_MS * effort, () => ending.abort(ranOut));
  const dispose = onAbort(limit, (reason) => ending.abort(reason));
  try {
    return await visit(segment, { waitMs: Infinity, signal: ending.signal, limit, granted: cancel });
  } catch (error) {
    if (error === ranOut) return undefined;
    throw error;
  } finally {
    cancel();
    dispose();
  }
}

/** Calls `action` after `ms` if `condition` holds then, or else as long again after that. */
function afterOnce(condition: () => boolean, ms: number, action: () => void): Dispose {
  let cancel: Dispose = () => {};
  const begin = () => {
    cancel = after(ms, () => (condition() ? action() : begin()));
  };
  begin();
  return () => cancel();
}

/** What one acquisition does at a segment of as many as there are thought to be: ask for it, then confirm the count. */
export class SegmentVisit {
  readonly #setting: SegmentSetting;
  readonly #options: ResolvedAcquireOptions;
  /** What the calling code holds already. */
  readonly #held: readonly HeldSegment[];

  constructor(setting: SegmentSetting, options: ResolvedAcquireOptions, held: readonly HeldSegment[]) {
    this.#setting = setting;
    this.#options = options;
    this.#held = held;
  }

  /** Gets a lease that its holder gives back. */
  async take(
    segment: number,
    segments: number,
    { limit, granted, ...limits }: VisitLimits,
  ): Promise<Visit<HeldSegment>> {
    const lock = segmentOf(this.#setting, segment, segments);
    const { onLost: _, ...options } = this.#options;
    const lease = await lock.tryAcquire({ ...options, ...limits });
    if (!lease) return undefined;
    granted();
    const recorded = await this.#confirmed(lease, limit).catch(async (error: unknown) => {
      await lease.release();
      throw error;
    });
    if (recorded === segments) return { got: lease };
    await lease.release();
    return recorded === undefined ? undefined : { recorded };
  }

  /** Works under the lease. */
  async run<T>(
    segment: number,
    segments: number,
    { limit, granted, ...limits }: VisitLimits,
    work: (lease: SegmentLease) => T | Promise<T>,
  ): Promise<Visit<T>> {
    const lock = segmentOf(this.#setting, segment, segments);
    let isInside = false;
    const begin = async (lease: HeldSegment): Promise<Visit<T>> => {
      granted();
      const recorded = isAmong(this.#held, lease) ? segments : await this.#confirmed(lease, limit);
      if (recorded !== segments) return recorded === undefined ? undefined : { recorded };
      isInside = true;
      return { got: await this.#setting.enclose(lease, () => work(lease)) };
    };
    try {
      return await lock.using(begin, { ...this.#options, ...limits });
    } catch (error) {
      if (!isInside && this.#isPassing(error, limits.signal)) return undefined;
      throw error;
    }
  }

  /** The recorded count under a lease; `undefined` when the lease is lost before it is known. */
  async #confirmed(lease: HeldSegment, limit: AbortSignal): Promise<number | undefined> {
    const recorded = await orAbort(this.#setting.count.confirm(lease.segments), limit);
    return lease.isHeld() ? recorded : undefined;
  }

  /** Whether there is just nothing to be had at this segment. A lease that was held before is not lost in passing. */
  #isPassing(error: unknown, signal: AbortSignal): boolean {
    if (error === signal.reason) return false;
    return error instanceof LockTimeoutError || (error instanceof LockLostError && this.#held.length === 0);
  }
}
