import type { MultiLease } from '../../../../lib/composite/multi-lease.js';
import type { Lease } from '../../../../lib/contract/lease.js';
import { attempt, GivenUp } from '../../../robustness/traffic/attempt.js';
import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';

/** Whoever works for so long gives the key back when it is asked to. */
const LONG_WORK_MS = [5_000, 20_000] as const;

const KEYS = ['sets/1', 'sets/2', 'sets/3'];

/** Sets of keys, written in any order, and single keys of them; some of the sets under the signal of another lease. */
export async function sets(desk: Desk): Promise<void> {
  let count = 0;
  await actUntilFinished(desk, async () => {
    const id = `${desk.name}/${++count}`;
    const deed = desk.random.weighted({ set: 5, single: 2, under: 2, revoke: 2 });
    if (deed === 'single') await takeOne(desk, id);
    else if (deed === 'set') await takeSet(desk, id);
    else if (deed === 'under') await takeUnder(desk, id);
    else await revokeOne(desk);
  });
}

async function takeOne(desk: Desk, id: string): Promise<void> {
  const key = desk.random.pick(KEYS);
  const waitMs = desk.random.pick(desk.orders.waitsMs);
  await attempt(desk.journal, { id, keys: [key], mode: 'exclusive', waitMs }, async (answer) => {
    await using lease = await desk.locks.mutex(key).acquire({ waitMs });
    answer('granted');
    await believe(desk, [lease], lease, desk.random.pick([desk.orders.workMs, LONG_WORK_MS]));
  });
}

async function takeSet(desk: Desk, id: string, signal?: AbortSignal): Promise<void> {
  const keys = desk.random.sample(KEYS, 2);
  const waitMs = Math.max(...desk.orders.waitsMs);
  await attempt(desk.journal, { id, keys, mode: 'exclusive', waitMs }, async (answer) => {
    await using set: MultiLease = await desk.locks.multi(keys).acquire({ waitMs, ...(signal && { signal }) });
    answer('granted');
    await believe(desk, set.leases, set);
  });
}

/** Asks whoever has the key to give it back, be it a set that has yet to get its other keys. */
async function revokeOne(desk: Desk): Promise<void> {
  const key = desk.random.pick(KEYS);
  const waitMs = Math.max(...desk.orders.waitsMs);
  const abort = new AbortController();
  const giveUp = setTimeout(() => abort.abort(new GivenUp('the caller gave up')), waitMs);
  await desk.calls.make({ on: 'lock', key, ask: 'revoke' }, () =>
    desk.locks.revoke(key, { graceMs: Infinity, signal: abort.signal }).finally(() => clearTimeout(giveUp)),
  );
}

/** Whoever loses the outer lease gives up the set with it. */
async function takeUnder(desk: Desk, id: string): Promise<void> {
  const key = `sets/of/${desk.name}`;
  const waitMs = Math.max(...desk.orders.waitsMs);
  await attempt(desk.journal, { id, keys: [key], mode: 'exclusive', waitMs }, async (answer) => {
    await using outer = await desk.locks.mutex(key).acquire({ waitMs });
    answer('granted');
    await takeSet(desk, `${id}/set`, outer.signal);
  });
}

async function believe(
  desk: Desk,
  leases: readonly Lease[],
  { signal }: Pick<Lease, 'signal'>,
  workMs = desk.orders.workMs,
): Promise<void> {
  const beliefs = leases.map((one) => desk.beliefs.begin(one, 'exclusive', desk.random.pick(['asks', 'listens'])));
  await passSome(desk, workMs, signal);
  beliefs.forEach((belief) => belief?.end());
}
