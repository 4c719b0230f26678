import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockTimeoutError } from '../contract/errors.js';
import { segmentKey } from '../contract/segment.options.js';
import { Deadline } from './deadline.js';
import { HeldSegment } from './held-segment.js';
import type { MultiLease } from './multi-lease.js';
import { MultiLock } from './multi-lock.js';
import { upTo } from './segment-route.js';
import type { Outcome } from './segment-search.js';
import { segmentOf } from './segment-setting.js';
import type { SegmentSetting } from './segment-setting.js';

/** All segments of a key, held at once. */
export interface WholeSet {
  /** The number of segments that was assumed when they were acquired. */
  readonly segments: number;
  /** The leases in the order of the segment numbers. */
  readonly leases: readonly HeldSegment[];
  /** The leases as one lease. It is lost as soon as one of them is. */
  readonly lease: MultiLease;
  /** Aborts when the deadline passes or the caller gives up. */
  readonly limit: AbortSignal;
}

/** Works under all leases. Or returns the recorded count, under which all segments are to be acquired anew. */
type WorkOnAll<T> = (set: WholeSet) => Promise<Outcome<T>>;

/** All segments of a key. With `atLeast`, also those of a larger count that the key is to have. */
export class AllSegments {
  readonly #setting: SegmentSetting;
  readonly #atLeast: number;

  constructor(setting: SegmentSetting, atLeast = 0) {
    this.#setting = { ...setting, mutexOf: setting.memberOf };
    this.#atLeast = atLeast;
  }

  /**
   * Runs `work` while all segments are held. They are acquired in the order of their numbers, within one deadline. They
   * are released in reverse order.
   *
   * All segments are released and acquired anew in these cases:
   * - the key has more or fewer than `segments` segments;
   * - a segment is lost or revoked before all of them are held.
   */
  async using<T>(segments: number, options: ResolvedAcquireOptions, work: WorkOnAll<T>): Promise<T> {
    const deadline = new Deadline(this.#setting.key, options.waitMs);
    return deadline.within([options.signal], async (signal) => {
      for (let count = segments; ;) {
        const outcome = await this.#attempt(count, { ...options, signal }, deadline, work);
        if ('got' in outcome) return outcome.got;
        count = outcome.recorded;
      }
    });
  }

  async #attempt<T>(
    segments: number,
    options: ResolvedAcquireOptions & { readonly signal: AbortSignal },
    deadline: Deadline,
    work: WorkOnAll<T>,
  ): Promise<Outcome<T>> {
    const { signal } = options;
    let isInside = false;
    let outcome: Outcome<T> | undefined;
    const begin = async (lease: MultiLease) => {
      isInside = true;
      return (outcome = await work({ segments, lease, leases: lease.leases.filter(isSegment), limit: signal }));
    };
    const waiting = this.#lockOn(segments, deadline).using(begin, {
      ...options,
      waitMs: deadline.waits ? Infinity : 0,
    });
    return waiting.catch((error: unknown) => {
      // The work has not begun, so the loss of a segment is not its failure.
      if (outcome && 'recorded' in outcome) return outcome;
      if (isInside) throw error;
      signal.throwIfAborted();
      throw error instanceof LockTimeoutError ? deadline.timeout() : error;
    });
  }

  #lockOn(segments: number, deadline: Deadline): MultiLock {
    const count = Math.max(segments, this.#atLeast);
    const { key, waitMs, holdersAt } = this.#setting;
    const members = upTo(count).map((segment) => {
      const name = segmentKey(key, segment);
      const lock = segmentOf(this.#setting, segment, count);
      return { key: name, identity: name, lock, awaited: () => deadline.waitsFor(holdersAt(segment)) };
    });
    return new MultiLock(members, waitMs, this.#setting);
  }
}

function isSegment(lease: unknown): lease is HeldSegment {
  return lease instanceof HeldSegment;
}
