import { anyAbort } from '../async/abort.js';
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

/** All segments, held at once. */
export interface WholeSet {
  /** How many the key was thought to have when they were acquired. */
  readonly segments: number;
  /** In the order of their numbers. */
  readonly leases: readonly HeldSegment[];
  /** The leases as one: lost with any of them. */
  readonly lease: MultiLease;
  /** Aborts when the caller is not ready to wait any longer. */
  readonly limit: AbortSignal;
}

/** Works, or finds that the key has another count. */
type WorkOnAll<T> = (set: WholeSet) => Promise<Outcome<T>>;

/** All segments of a key, and of a count that it is to have. */
export class AllSegments {
  readonly #setting: SegmentSetting;
  readonly #atLeast: number;

  constructor(setting: SegmentSetting, atLeast = 0) {
    this.#setting = { ...setting, mutexOf: setting.memberOf };
    this.#atLeast = atLeast;
  }

  /**
   * Runs `work` while it holds them: acquired in the order of their numbers, within one deadline, and released in reverse.
   * When there turn out to be more or fewer than `segments`, they are given back and acquired anew. So they are when one
   * of them is lost, or revoked, before all are there.
   */
  async using<T>(segments: number, options: ResolvedAcquireOptions, work: WorkOnAll<T>): Promise<T> {
    const deadline = new Deadline(this.#setting.key, options.waitMs);
    const { signal, dispose } = anyAbort([options.signal, deadline.signal]);
    try {
      for (let count = segments; ;) {
        const outcome = await this.#attempt(count, { ...options, signal }, deadline, work);
        if ('got' in outcome) return outcome.got;
        count = outcome.recorded;
      }
    } finally {
      deadline.dispose();
      dispose();
    }
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
      // That a segment was lost is no failure of work that did not begin.
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
