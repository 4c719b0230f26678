import { orAbort } from '../async/abort.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockLostError, LockTimeoutError } from '../contract/errors.js';
import type { SegmentLease } from '../contract/segment-lease.js';
import type { HeldSegment } from './held-segment.js';
import type { Visit, VisitLimits } from './segment-search.js';
import { isAmong, segmentOf } from './segment-setting.js';
import type { SegmentSetting } from './segment-setting.js';

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
