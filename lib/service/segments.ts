import { Logger } from '@nestjs/common';
import { HeldSegment } from '../composite/held-segment.js';
import { KnownCounts, SegmentCount } from '../composite/segment-count.js';
import { SegmentLoad } from '../composite/segment.js';
import { SegmentedLock } from '../composite/segmented-lock.js';
import { segmentKey, checkSegmentedKey, resolveSegmentOptions } from '../contract/segment.options.js';
import type { SegmentLease, SegmentOptions } from '../contract/segment.options.js';
import { callScope } from './held-leases.js';
import { heldLeases } from './hold-scope.js';
import type { LockConnection } from './lock-connection.js';
import { SingleLock } from './single-lock.js';

const logger = new Logger('SegmentedLock');

/** The segmented locks of one connection, and the data that they share. */
export class Segments {
  readonly #connection: LockConnection;
  readonly #load = new SegmentLoad();
  readonly #known = new KnownCounts();

  constructor(connection: LockConnection) {
    this.#connection = connection;
  }

  lockOn(key: string, options: SegmentOptions): SegmentedLock {
    const { segments: initial, route, ...holding } = resolveSegmentOptions(options);
    const { backend, keys, targets, gate, waitMs } = this.#connection;
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
      waitMsOf: (given) => gate.waitMsOf(given),
      count: new SegmentCount({ key, records, initial, known: this.#known, warn }),
      load: this.#load.of(identity),
      holdersAt: (segment) => gate.holders.of(targetOf(segment)),
      onLost: targets.onLost,
      mutexOf: (segment) => {
        const title = `segment ${segment} of "${key}"`;
        return new SingleLock(gate, { ...targetOf(segment), title, holding: limits });
      },
      memberOf: (segment) => new SingleLock(gate, targetOf(segment)),
      ...callScope(gate.holds, watched),
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
