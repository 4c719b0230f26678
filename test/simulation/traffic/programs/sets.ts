import type { MultiLease } from '../../../../lib/composite/multi-lease.js';
import type { Lease } from '../../../../lib/contract/lease.js';
import { attempt, GivenUp } from '../../../robustness/traffic/attempt.js';
import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';

/** A holder that works for so long releases the key when it is revoked. */
const LONG_WORK_MS = [5_000, 20_000] as const;

const KEYS = ['sets/1', 'sets/2', 'sets/3'];

/** Sets of keys in any order, and single keys of them. Some sets are under the signal of another lease. */
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

/** Revokes a key. Its holder may be a set that does not have its other keys yet. */
async function revokeOne(desk: Desk): Promise<void> {
  const key = desk.random.pick(KEYS);
  const waitMs = Math.max(...desk.orders.waitsMs);
  const abort = new AbortController();
  const giveUp = setTimeout(() => abort.abort(new GivenUp('the caller gave up')), waitMs);
  await desk.calls.make({ on: 'lock', key, ask: 'revoke' }, () =>
    desk.locks.revoke(key, { graceMs: Infinity, signal: abort.signal }).finally(() => clearTimeout(giveUp)),
  );
}

/** A caller that loses the outer lease gives up the set with it. */
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
