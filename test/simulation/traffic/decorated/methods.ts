import { Injectable } from '@nestjs/common';
import type { Lease } from '../../../../lib/contract/lease.js';
import type { SegmentLease } from '../../../../lib/contract/segment.options.js';
import { DistributedLock } from '../../../../lib/decorators/distributed-lock.decorator.js';
import { ReadLock, WriteLock } from '../../../../lib/decorators/read-write-lock.decorator.js';
import { SegmentLock } from '../../../../lib/decorators/segment-lock.decorator.js';
import { Semaphore } from '../../../../lib/decorators/semaphore.decorator.js';
import { currentLease } from '../../../../lib/service/hold-scope.js';
import { currentSegment } from '../../../../lib/service/segments.js';
import { INITIAL_PERMITS } from '../../model/initial.js';
import { PERMITS_KEY } from '../keys.js';
import { DECORATED_WAIT_MS } from '../../../robustness/traffic/ask.js';
import type { Mode } from '../../../robustness/model/history.js';

type Work<L = Lease> = (lease: L) => Promise<void>;

export const SEGMENTED_KEY = 'shelf';
export const SEGMENTS = 3;

const WAITS = { waitMs: DECORATED_WAIT_MS } as const;
const keyOf = (key: string, _work: Work) => key;

/** An application's service. Every method is decorated, and runs the work that it is given. */
@Injectable()
export class Methods {
  @DistributedLock(keyOf, WAITS)
  async exclusive(_key: string, work: Work): Promise<void> {
    await work(held());
  }

  @ReadLock(keyOf, WAITS)
  async read(_key: string, work: Work): Promise<void> {
    await work(held());
  }

  @WriteLock(keyOf, WAITS)
  async write(_key: string, work: Work): Promise<void> {
    await work(held());
  }

  @Semaphore(PERMITS_KEY, { permits: INITIAL_PERMITS, ...WAITS })
  async onePermit(work: Work): Promise<void> {
    await work(held());
  }

  @Semaphore(PERMITS_KEY, { permits: INITIAL_PERMITS, permitsPerCall: 2, ...WAITS })
  async twoPermits(work: Work): Promise<void> {
    await work(held());
  }

  @SegmentLock({ key: SEGMENTED_KEY, segments: SEGMENTS, ...WAITS })
  async segment(work: Work<SegmentLease>): Promise<void> {
    const segment = currentSegment();
    if (!segment) throw new Error('a method with @SegmentLock ran without a segment');
    await work(segment);
  }

  in(mode: Mode): (key: string, work: Work) => Promise<void> {
    return (key, work) => this[mode](key, work);
  }
}

function held(): Lease {
  const lease = currentLease();
  if (!lease) throw new Error('a decorated method ran without its lock');
  return lease;
}
