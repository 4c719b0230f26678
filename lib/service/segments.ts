import { Logger } from '@nestjs/common';
import { HeldSegment } from '../composite/held-segment.js';
import { KnownCounts } from '../composite/known-counts.js';
import { SegmentCount } from '../composite/segment-count.js';
import { segmentKey } from '../composite/segment-setting.js';
import { SegmentLoad } from '../composite/segment-load.js';
import { SegmentedLock } from '../composite/segmented-lock.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Lock } from '../contract/lock.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { SegmentLease } from '../contract/segment-lease.js';
import { resolveSegmentOptions } from '../contract/segment.options.js';
import type { SegmentOptions } from '../contract/segment.options.js';
import { heldLeases, runUnder } from './held-leases.js';

const logger = new Logger('SegmentedLock');

/** The segmented locks of one connection, and what they know of each other. */
export class Segments {
  readonly #backend: LockBackend;
  readonly #waitMs: number;
  readonly #mutexOn: (key: string) => Lock;
  readonly #load = new SegmentLoad();
  readonly #known = new KnownCounts();

  constructor(backend: LockBackend, waitMs: number, mutexOn: (key: string) => Lock) {
    this.#backend = backend;
    this.#waitMs = waitMs;
    this.#mutexOn = mutexOn;
  }

  lockOn(key: string, options: SegmentOptions): SegmentedLock {
    const { segments: initial, route } = resolveSegmentOptions(options);
    const identity = this.#backend.identify(key);
    if (key.startsWith('/')) throw notRelative(key);
    const { records } = this.#backend;
    const warn = (message: string) => logger.warn(message);
    return new SegmentedLock({
      key,
      scope: this.#backend,
      identity,
      route,
      waitMs: this.#waitMs,
      count: new SegmentCount({ key, records, initial, known: this.#known, warn }),
      load: this.#load.of(identity),
      mutexOf: (segment) => this.#mutexOn(segmentKey(key, segment)),
      enclose: runUnder,
      heldLeases,
    });
  }
}

/**
 * The segment that the running code holds: the innermost, inside a method with `@SegmentLock` or the work of
 * `segmented(…).using`. `undefined` elsewhere, and inside `withAll`, which holds them all.
 */
export function currentSegment(): SegmentLease | undefined {
  for (const lease of heldLeases()) if (lease instanceof HeldSegment) return lease;
  return undefined;
}

function notRelative(key: string): LockConfigurationError {
  return new LockConfigurationError(`a key with segments must not be an absolute path, got "${key}"`, { key });
}
