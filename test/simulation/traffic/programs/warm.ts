import { attempt } from '../../../robustness/traffic/attempt.js';
import { actUntilFinished } from '../desk.js';
import type { Desk } from '../desk.js';
import { workUnder } from '../working.js';

const KEYS = ['warm/1', 'warm/2'];

/** Warm leases, kept for shorter and for longer than a session timeout. */
export async function warm(desk: Desk): Promise<void> {
  const { sessionTimeoutMs, waitsMs } = desk.orders;
  let count = 0;
  await actUntilFinished(desk, async () => {
    const key = desk.random.pick(KEYS);
    const keepMs = desk.random.pick([sessionTimeoutMs / 4, 2 * sessionTimeoutMs]);
    const waitMs = desk.random.pick([0, ...waitsMs]);
    const lock = desk.locks.mutex(key, { keepMs });
    await attempt(
      desk.journal,
      { id: `${desk.name}/${++count}`, keys: [key], mode: 'exclusive', waitMs },
      async (answer) => {
        await using lease = await lock.tryAcquire({ waitMs });
        answer(lease ? 'granted' : 'not this time');
        if (lease) await workUnder(desk, lease, {});
      },
    );
  });
}
