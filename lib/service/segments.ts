import { Logger } from '@nestjs/common';
import { HeldSegment } from '../composite/held-segment.js';
import { KnownCounts, SegmentCount } from '../composite/segment-count.js';
import { SegmentLoad } from '../composite/segment.js';
import { SegmentedLock } from '../composite/segmented-lock.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { segmentKey, checkSegmentedKey, resolveSegmentOptions } from '../contract/segment.options.js';
import type { SegmentLease, SegmentOptions } from '../contract/segment.options.js';
import type { AcquisitionGate } from './acquisition-gate.js';
import { callScope, heldLeases } from './held-leases.js';
import type { Keys } from './service-names.js';
import type { LockTargets } from './lock-targets.js';
import { SingleLock } from './single-lock.js';

const logger = new Logger('SegmentedLock');

/** The parts that segmented locks are made of. */
interface SegmentedLockParts {
  readonly backend: LockBackend;
  readonly keys: Keys;
  /** Default wait of callers, in milliseconds. */
  readonly waitMs: number;
  /** Returns how long a caller that requests `waitMs` waits, in milliseconds. */
  readonly limited: (waitMs: number) => number;
  readonly targets: LockTargets;
  readonly admission: AcquisitionGate;
}

/** The segmented locks of one connection, and the data that they share. */
export class Segments {
  readonly #parts: SegmentedLockParts;
  readonly #load = new SegmentLoad();
  readonly #known = new KnownCounts();

  constructor(parts: SegmentedLockParts) {
    this.#parts = parts;
  }

  lockOn(key: string, options: SegmentOptions): SegmentedLock {
    const { segments: initial, route, ...holding } = resolveSegmentOptions(options);
    const { backend, keys, targets, admission, waitMs, limited } = this.#parts;
    const identity = keys.identify(key);
    checkSegmentedKey(key);
    const { records } = backend;
    const warn = (message: string) => logger.warn(message);
    const limits = targets.holdingOf(holding);
    const watched = { title: `all segments of "${key}"`, holding: limits };
    const targetOf = (segment: number) => targets.ofPart(segmentKey(key, segment));
    return new SegmentedLock({
      key,
      scope: backend,
      identity,
      route,
      waitMs,
      limited,
      count: new SegmentCount({ key, records, initial, known: this.#known, warn }),
      load: this.#load.of(identity),
      holdersAt: (segment) => admission.holders.of(targetOf(segment)),
      onLost: targets.onLost,
      mutexOf: (segment) => {
        const title = `segment ${segment} of "${key}"`;
        return new SingleLock(admission, { ...targetOf(segment), title, holding: limits });
      },
      memberOf: (segment) => new SingleLock(admission, targetOf(segment)),
      ...callScope(admission.holds, watched),
    });
  }
}

/**
 * Returns the segment that the running code holds: the innermost, inside a method with `@SegmentLock` or the work of
 * `segmented(…).using`. `undefined` elsewhere, and inside `withAll`, which holds them all.
 */
export function currentSegment(): SegmentLease | undefined {
  for (const lease of heldLeases()) if (lease instanceof HeldSegment) return lease;
  return undefined;
}
