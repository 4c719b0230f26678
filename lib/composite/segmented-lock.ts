/**
 * One key, split into segments that are held independently of each other: as many callers work at once as there are
 * segments, and whoever needs the whole takes all of them.
 *
 * Locks: segment 7 of `stock/sku1` is the plain lock on `stock/sku1/#0007`. The order of the keys is that of the numbers.
 * Count: the record `segments/stock/sku1`. Whoever was granted a segment reads it before they begin; if the count is not
 * the one that they chose the segment by, they give it back and choose again.
 *
 * Never two counts at once. A holder is whoever was granted segment i, has then read count c with i < c, and has not lost
 * the lease since. The count is changed by `resize` alone. It takes every segment below the old and the new count, writes
 * a mark (`resizingTo`), sees that it still holds them all, migrates, and writes the new count over its own mark.
 * 1. When it sees that, there is no holder. One who was granted a segment before the resizer has ended. One who got it
 *    after the resizer must have got it from a resizer who lost it, and the resizer would not see itself hold it.
 * 2. Who is granted a segment from then on, because the resizer has lost it, sees the mark: a read under a lease sees all
 *    that was written before the grant. They write it away before they begin. The resizer's last write depends on its
 *    mark: it can not be applied any more, however late it arrives.
 * 3. So if the last write is applied, nobody has begun between the mark and it, and who begins later reads the new count.
 * A resizer that dies leaves the old count and, for a while, its mark. No clock is assumed but that of the leases.
 *
 * No deadlock: one segment is waited for while none is held, all of them are waited for in one fixed order, and a call that
 * holds a segment enters that one or is refused.
 */
import { anyAbort, orAbort } from '../async/abort.js';
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
 * A key in segments. `acquire`, `tryAcquire` and `using` take any one that the options allow, and behave as those of
 * every lock. A nested `using` enters the segment that its context holds, and asks nobody.
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

  /** `null` when every segment that the options allow is busy. @throws as `acquire`, but for the time-out */
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
   * Runs `work` while it holds every segment, for what concerns the whole: restocking, auditing, rebalancing. They are
   * acquired one after another, from 0 on, within one deadline, and released in reverse.
   * @throws as `using`; LockReentrancyError inside `using`, where it would wait for others while it is waited for
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
        // A segment may be lost, or revoked, while the count is read.
        const isUsable = isKnown || (lease.isHeld() && !lease.signal.aborted);
        return recorded === segments && isUsable ? { got: await work(leases) } : { recorded };
      },
    );
  }

  /**
   * Changes the number of segments, for everybody and at run time: while it holds every segment of both counts it runs
   * `migrate`, and then records the new count. Others go on when it is done; who was waiting chooses a segment anew.
   *
   * A process that dies in `migrate`, or before the count is recorded, leaves the old count: `migrate` must then have
   * done nothing, or nothing that hurts under the old count, and must be able to run again from where it stopped.
   * @throws LockLostError when a lease was lost on the way, LockUnavailableError when it is not known whether the count
   *   was recorded (resize again), as `withAll`, and what `migrate` throws: but for the second, the count is the old one
   */
  async resize(segments: number, migrate: Migrate = () => {}, options?: AcquireOptions): Promise<void> {
    checkSegments(segments);
    const resolved = resolveSegmentWait(this.#setting, this.#setting.placed(options, this, 'resize'));
    if (heldSegments(this.#setting).length > 0) throw this.#selfWait('resize() wants them all, and all to itself');
    await changeCount(this.#setting, segments, migrate, resolved);
  }

  /** How many segments there are right now. Tells nothing about a moment later, unless a segment is held. */
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

/** Found, or not this time. */
type Found<T> = { readonly got: T } | undefined;

interface Limits extends Pick<Search, 'waits' | 'signal'> {
  readonly deadline: Deadline;
}

/** What is done at a segment of as many as there are thought to be. */
type VisitOne<T> = (segment: number, segments: number, limits: VisitLimits) => Promise<Visit<T>>;

/** One acquisition of one segment, from its options to a lease whose count is confirmed. */
class SegmentAcquisition {
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
