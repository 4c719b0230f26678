import { anyAbort, orAbort } from '../async/abort.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockConfigurationError, LockReentrancyError, LockTimeoutError } from '../contract/errors.js';
import type { SegmentLease, SegmentUsingOptions } from '../contract/segment-lease.js';
import { Deadline } from './deadline.js';
import type { HeldSegment } from './held-segment.js';
import { candidates, checkRoute } from './segment-route.js';
import type { Route } from './segment-route.js';
import { visitUntilFound } from './segment-search.js';
import type { Search, Visit, VisitLimits } from './segment-search.js';
import { heldSegments, resolveSegmentWait } from './segment-setting.js';
import type { SegmentSetting } from './segment-setting.js';
import { SegmentVisit } from './segment-visit.js';

/** Found, or not this time. */
type Found<T> = { readonly got: T } | undefined;

interface Limits extends Pick<Search, 'waits' | 'signal'> {
  readonly deadline: Deadline;
}

/** What is done at a segment of as many as there are thought to be. */
type VisitOne<T> = (segment: number, segments: number, limits: VisitLimits) => Promise<Visit<T>>;

/** One acquisition of one segment, from its options to a lease whose count is confirmed. */
export class SegmentAcquisition {
  readonly #setting: SegmentSetting;
  readonly #route: Route;
  readonly #options: ResolvedAcquireOptions;
  /** What the calling code holds already. */
  readonly #held: readonly HeldSegment[];
  readonly #visit: SegmentVisit;
  #deadline: Deadline | undefined;

  /** @throws LockConfigurationError */
  constructor(setting: SegmentSetting, { routeBy, only, ...options }: SegmentUsingOptions, waitMs: number) {
    this.#setting = setting;
    this.#options = resolveSegmentWait({ ...setting, waitMs }, options);
    this.#route = { route: setting.route, routeBy, only };
    checkRoute(this.#route);
    this.#held = heldSegments(setting);
    this.#visit = new SegmentVisit(setting, this.#options, this.#held);
  }

  timeout(): LockTimeoutError {
    return this.#deadline?.timeout() ?? new LockTimeoutError(this.#setting.key, this.#options.waitMs);
  }

  /** A lease that its holder gives back. */
  async byHandle(): Promise<HeldSegment | null> {
    if (this.#held.length > 0) throw this.#selfWait('a second lease could wait for the first; use using()');
    const found = await this.#within((limits) => this.#search(limits, (...where) => this.#visit.take(...where)));
    return found ? found.got : null;
  }

  async using<T>(work: (lease: SegmentLease) => T | Promise<T>): Promise<Found<T>> {
    const run: VisitOne<T> = (...where) => this.#visit.run(...where, work);
    return this.#within((limits) => (this.#held.length > 0 ? this.#enter(limits, run) : this.#search(limits, run)));
  }

  /** `undefined` when the deadline passed, however that showed. */
  async #within<T>(find: (limits: Limits) => Promise<Found<T>>): Promise<Found<T>> {
    const deadline = (this.#deadline = new Deadline(this.#setting.key, this.#options.waitMs));
    const { signal, dispose } = anyAbort([this.#options.signal, deadline.signal]);
    try {
      signal.throwIfAborted();
      return await find({ waits: deadline.waits, signal, deadline });
    } catch (error) {
      if (deadline.isReasonOf(error)) return undefined;
      throw error;
    } finally {
      deadline.dispose();
      dispose();
    }
  }

  async #search<T>({ deadline, ...limits }: Limits, visitOne: VisitOne<T>): Promise<Found<T>> {
    const { load, holdersAt } = this.#setting;
    for (let segments = await this.#guess(limits); ;) {
      const search = { ...limits, candidates: this.#candidates(segments), load };
      const visit = await visitUntilFound(search, (segment, within) => {
        deadline.waitsFor(holdersAt(segment));
        return visitOne(segment, segments, within);
      });
      if (!visit || 'got' in visit) return visit;
      segments = visit.recorded;
    }
  }

  /** Goes to a segment that the calling code holds; to any, if that was given back while this call stood in line for it. */
  async #enter<T>(limits: Limits, visitOne: VisitOne<T>): Promise<Found<T>> {
    const segments = this.#held[0]?.segments ?? 0;
    const own = this.#candidates(segments).find((one) => this.#held.some(({ segment }) => segment === one));
    if (own === undefined) throw this.#selfWait('it holds another segment, and could wait for those who wait for it');
    const { signal, waits } = limits;
    const limit = { waitMs: waits ? Infinity : 0, signal, limit: signal, granted: () => {} };
    const visit = await visitOne(own, segments, limit);
    return visit && 'recorded' in visit ? this.#search(limits, visitOne) : visit;
  }

  /** @throws LockConfigurationError when `only` names none that there are */
  #candidates(segments: number): readonly number[] {
    const found = candidates(this.#route, segments);
    if (found.length > 0) return found;
    throw new LockConfigurationError(`only must name segments of "${this.#setting.key}", which has ${segments}`);
  }

  /** What the count most likely is; exactly, where a wrong guess would look like a wrong option. */
  async #guess({ signal }: Pick<Limits, 'signal'>): Promise<number> {
    const { count } = this.#setting;
    const { only = [] } = this.#route;
    if (only.every((segment) => segment < count.expected)) return count.expected;
    const { segments } = await orAbort(count.read(), signal);
    return segments;
  }

  #selfWait(why: string): LockReentrancyError {
    return new LockReentrancyError(this.#setting.key, why);
  }
}
