import type { SegmentLease } from '../../../../lib/contract/segment.options.js';
import { DECORATED_WAIT_MS } from '../../../robustness/traffic/ask.js';
import { attempt } from '../../../robustness/traffic/attempt.js';
import type { Outcome } from '../../../robustness/model/history.js';
import { SEGMENTED_KEY, SEGMENTS } from '../decorated/methods.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { workUnder } from '../working.js';

type Way = 'decorated' | 'try' | 'all';

/** Any free segment, from a decorated method and from the service; occasionally all of them. */
export async function segments(desk: Desk): Promise<void> {
  let count = 0;
  await actUntilFinished(desk, async () => {
    const way = desk.random.weighted<Way>({ decorated: 5, try: 4, all: 1 });
    const waitMs = { decorated: DECORATED_WAIT_MS, try: 0, all: Math.max(...desk.orders.waitsMs) }[way];
    const asked = { id: `${desk.name}/${++count}`, keys: [SEGMENTED_KEY], mode: 'exclusive', waitMs } as const;
    await attempt(desk.journal, asked, (answer) => take(desk, way, waitMs, answer));
  });
}

async function take(desk: Desk, way: Way, waitMs: number, answer: (outcome: Outcome) => void): Promise<void> {
  const work = async (leases: readonly SegmentLease[]) => {
    answer('granted');
    await Promise.all(leases.map((lease) => workUnder(desk, lease, {})));
  };
  const lock = desk.locks.segmented(SEGMENTED_KEY, { segments: SEGMENTS });
  if (way === 'decorated') return desk.methods.segment((lease) => work([lease]));
  if (way === 'all') return lock.withAll(work, { waitMs });
  await using lease = await lock.tryAcquire();
  await (lease ? work([lease]) : answer('not this time'));
}
