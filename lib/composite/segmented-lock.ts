/**
 * One key, split into segments that are held independently of each other. As many callers work at once as there are
 * segments. A caller that needs the whole key acquires all of them.
 *
 * Locks: segment 7 of `stock/sku1` is the plain lock on `stock/sku1/#0007`. The order of the keys is that of the
 * numbers.
 * Count: the record `segments/stock/sku1`. A caller that was granted a segment reads it before its work begins. If it
 * is not the count that the segment was chosen by, the caller releases the segment and chooses again.
 *
 * Two counts are never in use at the same time. A holder is a caller that was granted segment i and has then read count
 * c with i < c. It has not lost the lease since. Only `resize` changes the count, in these steps:
 * - acquire every segment below the old and the new count;
 * - write a mark (`resizingTo`);
 * - check that all segments are still held;
 * - migrate;
 * - write the new count over its own mark.
 *
 * Why this is safe:
 * 1. At the time of the check there is no holder. A caller that was granted a segment before the resizer no longer
 *    holds it. A caller that was granted one after the resizer can have it only because the resizer lost it. The check
 *    would have noticed the loss.
 * 2. A caller may be granted a segment after the check, because the resizer lost it. It sees the mark: a read under a
 *    lease sees everything that was written before the grant. It removes the mark before its work begins. The resizer's
 *    last write depends on the mark, so it cannot be applied any more, however late it arrives.
 * 3. So if the last write is applied, no work has begun between the mark and that write. Work that begins later reads
 *    the new count.
 *
 * A resizer that dies leaves the old count and, for a while, its mark. No clock is assumed but that of the leases.
 *
 * There is no deadlock. A call waits for a single segment only while it holds none. All segments are acquired in one
 * fixed order. A call that holds a segment re-enters that segment or is refused.
 */
import { orAbort } from '../async/abort.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { checkWork } from '../contract/check.js';
import { LockConfigurationError, LockReentrancyError, LockTimeoutError } from '../contract/errors.js';
import type { AcquireOptions, Lock, UsingOptions } from '../contract/lock.js';
import { checkSegments } from '../contract/segment.options.js';
import type { SegmentAcquireOptions, SegmentLease, SegmentUsingOptions } from '../contract/segment.options.js';
import { AllSegments } from './all-segments.js';
import { Deadline } from './deadline.js';
import type { HeldSegment } from './held-segment.js';
import { changeCount } from './segment-resize.js';
import type { Migrate } from './segment-resize.js';
import { candidates, checkRoute } from './segment-route.js';
import type { Route } from './segment-route.js';
import { SegmentVisit, visitUntilFound } from './segment-search.js';
import type { Search, Visit, VisitLimits } from './segment-search.js';
import { heldSegments, isAmong, resolveSegmentWait } from './segment-setting.js';
import type { SegmentSetting } from './segment-setting.js';

/**
 * A lock on a key in segments. `acquire`, `tryAcquire` and `using` take any segment that the options allow. Otherwise
 * they behave as those of every lock. A nested `using` re-enters the segment that its context holds, without a request.
 */
export class SegmentedLock implements Lock {
  readonly #setting: SegmentSetting;

  /** @internal */
  constructor(setting: SegmentSetting) {
    this.#setting = setting;
  }

  /** @throws LockTimeoutError, LockUnavailableError, LockReentrancyError inside `using`, LockConfigurationError */
  async acquire(options?: SegmentAcquireOptions): Promise<SegmentLease> {
    const acquisition = this.#acquisition(this.#setting.placed(options, this, 'acquire'), this.#setting.waitMs);
    const lease = await acquisition.byHandle();
    if (!lease) throw acquisition.timeout();
    return lease;
  }

  /** Returns `null` when every segment that the options allow is busy. @throws as `acquire`, except for the time-out */
  async tryAcquire(options?: SegmentAcquireOptions): Promise<SegmentLease | null> {
    return this.#acquisition(this.#setting.placed(options, this, 'tryAcquire'), 0).byHandle();
  }

  /** @throws as `acquire`, LockLostError, and what `work` throws */
  async using<T>(work: (lease: SegmentLease) => T | Promise<T>, options?: SegmentUsingOptions): Promise<T> {
    checkWork(work);
    const acquisition = this.#acquisition(this.#setting.placed(options, this, 'using'), this.#setting.waitMs);
    const found = await acquisition.using(work);
    if (!found) throw acquisition.timeout();
    return found.got;
  }

  /**
   * Runs `work` while every segment is held, for tasks that concern the whole key: restocking, auditing, rebalancing.
   * The segments are acquired one after another, from 0 on, within one deadline. They are released in reverse order.
   * @throws as `using`; LockReentrancyError inside `using`, where it would wait for callers that wait for it
   */
  async withAll<T>(work: (leases: readonly SegmentLease[]) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    checkWork(work);
    const resolved = resolveSegmentWait(this.#setting, this.#setting.placed(options, this, 'withAll'));
    const held = heldSegments(this.#setting);
    const outer = held[0]?.segments;
    if (outer !== undefined && held.length < outer) throw this.#selfWait('withAll() wants them all');
    const { count } = this.#setting;
    return new AllSegments(this.#setting).using<T>(
      outer ?? count.expected,
      resolved,
      async ({ segments, leases, lease, limit }) => {
        const isKnown = leases.every((one) => isAmong(held, one));
        const recorded = isKnown ? segments : await orAbort(count.confirm(segments), limit);
        // A segment may be lost or revoked while the count is read.
        const isUsable = isKnown || (lease.isHeld() && !lease.signal.aborted);
        return recorded === segments && isUsable ? { got: await work(leases) } : { recorded };
      },
    );
  }

  /**
   * Changes the number of segments for all processes, at run time. While every segment of both counts is held, it runs
   * `migrate` and then records the new count. Other callers continue afterwards. Those that were waiting choose a
   * segment anew.
   *
   * A process that dies in `migrate`, or before the count is recorded, leaves the old count. `migrate` must then have
   * done nothing, or nothing that does harm under the old count. It must be able to run again from where it stopped.
   * @throws LockLostError when a lease was lost before the count was recorded; LockUnavailableError when it is not
   *   known whether the count was recorded (resize again); as `withAll`; what `migrate` throws. After every error but
   *   LockUnavailableError, the count is the old one.
   */
  async resize(segments: number, migrate: Migrate = () => {}, options?: AcquireOptions): Promise<void> {
    checkSegments(segments);
    const resolved = resolveSegmentWait(this.#setting, this.#setting.placed(options, this, 'resize'));
    if (heldSegments(this.#setting).length > 0) throw this.#selfWait('resize() wants them all, and all to itself');
    await changeCount(this.#setting, segments, migrate, resolved);
  }

  /** Returns the current number of segments. It may change at any moment unless a segment is held. */
  async count(): Promise<number> {
    const { segments } = await this.#setting.count.read();
    return segments;
  }

  #acquisition(options: SegmentUsingOptions, waitMs: number): SegmentAcquisition {
    return new SegmentAcquisition(this.#setting, options, waitMs);
  }

  #selfWait(why: string): LockReentrancyError {
    return new LockReentrancyError(this.#setting.key, why);
  }
}

/** The result of a search, or `undefined` when nothing was. */
type Found<T> = { readonly got: T } | undefined;

interface Limits extends Pick<Search, 'waits' | 'signal'> {
  readonly deadline: Deadline;
}

/** Visits one segment, given the assumed number of segments. */
type VisitOne<T> = (segment: number, segments: number, limits: VisitLimits) => Promise<Visit<T>>;

/** One acquisition of one segment, from its options to a lease whose count is confirmed. */
class SegmentAcquisition {
  readonly #setting: SegmentSetting;
  readonly #route: Route;
  readonly #options: ResolvedAcquireOptions;
  /** The segments that the calling context already holds. */
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

  /** Acquires a lease that the caller releases. Returns `null` when no segment was found in time. */
  async byHandle(): Promise<HeldSegment | null> {
    if (this.#held.length > 0) throw this.#selfWait('a second lease could wait for the first; use using()');
    const found = await this.#within((limits) => this.#search(limits, (...where) => this.#visit.take(...where)));
    return found ? found.got : null;
  }

  async using<T>(work: (lease: SegmentLease) => T | Promise<T>): Promise<Found<T>> {
    const run: VisitOne<T> = (...where) => this.#visit.run(...where, work);
    return this.#within((limits) => (this.#held.length > 0 ? this.#enter(limits, run) : this.#search(limits, run)));
  }

  /** Runs `find` within the deadline. Resolves with `undefined` when the deadline has passed. */
  async #within<T>(find: (limits: Limits) => Promise<Found<T>>): Promise<Found<T>> {
    const deadline = (this.#deadline = new Deadline(this.#setting.key, this.#options.waitMs));
    try {
      return await deadline.within([this.#options.signal], async (signal) => {
        signal.throwIfAborted();
        return find({ waits: deadline.waits, signal, deadline });
      });
    } catch (error) {
      if (deadline.isReasonOf(error)) return undefined;
      throw error;
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

  /**
   * Re-enters a segment that the calling context holds. If that lease was released while this call waited in its queue,
   * searches all candidates.
   */
  async #enter<T>(limits: Limits, visitOne: VisitOne<T>): Promise<Found<T>> {
    const segments = this.#held[0]?.segments ?? 0;
    const own = this.#candidates(segments).find((one) => this.#held.some(({ segment }) => segment === one));
    if (own === undefined) throw this.#selfWait('it holds another segment, and could wait for its own waiters');
    const { signal, waits } = limits;
    const limit = { waitMs: waits ? Infinity : 0, signal, limit: signal, granted: () => {} };
    const visit = await visitOne(own, segments, limit);
    return visit && 'recorded' in visit ? this.#search(limits, visitOne) : visit;
  }

  /** @throws LockConfigurationError when `only` names no existing segment */
  #candidates(segments: number): readonly number[] {
    const found = candidates(this.#route, segments);
    if (found.length > 0) return found;
    throw new LockConfigurationError(`only must name segments of "${this.#setting.key}", which has ${segments}`);
  }

  /** Returns the most likely count. Reads the recorded count where a wrong guess would look like a wrong option. */
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
