import type { Lease } from '../../../../lib/contract/lease.js';
import type { SemaphoreLock } from '../../../../lib/contract/semaphore.options.js';
import type { Asked } from '../calls.js';
import { INITIAL_PERMITS } from '../../model/initial.js';
import { PERMITS_KEY, SHARING_KEY } from '../keys.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { withLimits, workUnder } from '../working.js';

type Deed = 'decorated' | 'using' | 'try' | 'resize' | 'count';

const MOST_PERMITS = 5;

/** Permits of a semaphore whose number changes all the time. */
export async function permits(desk: Desk): Promise<void> {
  await actUntilFinished(desk, async () => {
    const key = desk.random.chance(0.7) ? PERMITS_KEY : SHARING_KEY;
    const on = { on: 'semaphore', key } as const;
    const semaphore = semaphoreOf(desk, key);
    const deed = desk.random.weighted<Deed>({ decorated: 5, using: 5, try: 3, resize: 0.7, count: 0.5 });
    if (deed === 'resize') {
      const number = desk.random.int(1, MOST_PERMITS);
      await desk.calls.make({ ...on, ask: 'setPermits', permits: number }, () => semaphore.setPermits(number));
    } else if (deed === 'count') {
      await desk.calls.make({ ...on, ask: 'permits' }, () => semaphore.permits(), { answerOf: (value) => ({ value }) });
    } else {
      const number = desk.random.int(1, 2);
      await desk.calls.make({ ...on, ask: 'acquire', permits: number }, (asked) =>
        take(desk, { key, deed, number }, asked),
      );
    }
  });
}

interface Wanted {
  readonly key: string;
  readonly deed: Deed;
  readonly number: number;
}

/** The second semaphore uses the number of the first. */
function semaphoreOf({ locks }: Desk, key: string): SemaphoreLock {
  const sharedCount = key === SHARING_KEY ? { sharedCount: `${PERMITS_KEY}/permits` } : {};
  return locks.semaphore(key, { permits: INITIAL_PERMITS, ...sharedCount });
}

/** Resolves with `null` if no permit was free. */
async function take(desk: Desk, { key, deed, number }: Wanted, asked: Asked): Promise<true | null> {
  const semaphore = semaphoreOf(desk, key);
  const work = async (lease: Lease) => {
    asked.done();
    await workUnder(desk, lease, { kind: 'permits', permits: number, call: asked.id });
  };
  if (deed === 'decorated' && key === PERMITS_KEY) {
    await (number === 1 ? desk.methods.onePermit(work) : desk.methods.twoPermits(work));
    return true;
  }
  if (deed !== 'try') {
    await withLimits(desk, (limits) => semaphore.using(work, { permits: number, ...limits }));
    return true;
  }
  await using lease = await semaphore.tryAcquire({ permits: number });
  if (!lease) return null;
  await work(lease);
  return true;
}
