import type { Lock } from '../../../../lib/contract/lock.js';
import { attempt } from '../../../robustness/traffic/attempt.js';
import type { Mode } from '../../../robustness/model/history.js';
import type { Random } from '../../../robustness/random.js';
import { CROWD_KEY, CROWD_READ_KEY, MIXED_CROWD_KEY, OWN_CROWD_KEY } from '../keys.js';
import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';
import type { CrowdKind } from '../orders.js';

/** The request of one member of a crowd. */
interface Member {
  readonly id: string;
  readonly key: string;
  readonly mode: Mode;
  readonly waitMs: number;
  readonly workMs: readonly [number, number];
  /** The delay of the member after the first ones. */
  readonly afterMs?: readonly [number, number];
}

/** The maximum number of waiters, because each of them is granted separately. */
const MOST_WAITERS = 8;

/**
 * Many callers that ask in one turn of the event loop. Readers use a key that nobody writes. Waiters use one that all
 * crowds want. Tries are made for a key that no other client uses. Readers and writers of one key ask one after
 * another.
 */
export async function crowd(desk: Desk): Promise<void> {
  const { orders, random } = desk;
  let count = 0;
  await actUntilFinished(desk, async () => {
    const kind = random.pick(orders.crowdKinds);
    const size = random.pick(orders.crowdSizes);
    const name = `${desk.name}/${++count}`;
    const members = Array.from({ length: size }, (_, place) => memberOf(desk, kind, place, `${name}.${place}`));
    await Promise.all(
      members
        .slice(0, kind === 'readers' || kind.includes('tries') ? size : MOST_WAITERS)
        .map((one) => join(desk, one)),
    );
  });
}

function memberOf({ name, orders, random }: Desk, kind: CrowdKind, place: number, id: string): Member {
  const longestMs = Math.max(...orders.waitsMs);
  const workMs = [0, 20] as const;
  if (kind === 'readers') {
    const waitMs = random.pick([0, 0, longestMs]);
    return { id, key: CROWD_READ_KEY, mode: 'read', waitMs, workMs: orders.workMs };
  }
  if (kind === 'readers and writers') return mixedMember(random, id, longestMs);
  if (kind === 'waiters') return { id, key: CROWD_KEY, mode: 'exclusive', waitMs: longestMs, workMs };
  const isWaiter = kind === 'a waiter and tries' && place === 0;
  return { id, key: `${OWN_CROWD_KEY}/${name}`, mode: 'exclusive', waitMs: isWaiter ? longestMs : 0, workMs };
}

/** A reader that holds for long, or a writer that gives up soon. */
function mixedMember(random: Random, id: string, longestMs: number): Member {
  const isWriter = random.chance(0.2);
  const mode = isWriter ? 'write' : 'read';
  return {
    id,
    key: MIXED_CROWD_KEY,
    mode,
    waitMs: isWriter ? random.pick([100, 1_000]) : longestMs,
    workMs: isWriter ? [0, 20] : [0, 20_000],
    afterMs: [0, 200],
  };
}

async function join(desk: Desk, { id, key, mode, waitMs, workMs, afterMs }: Member): Promise<void> {
  if (afterMs) await passSome(desk, afterMs);
  const lock: Lock = mode === 'exclusive' ? desk.locks.mutex(key) : desk.locks.readWriteLock(key)[mode];
  await attempt(desk.journal, { id, keys: [key], mode, waitMs }, async (answer) => {
    const lease = await (waitMs === 0 ? lock.tryAcquire() : lock.acquire({ waitMs }));
    if (!lease) return answer('not this time');
    await using held = lease;
    answer('granted');
    const belief = desk.beliefs.begin(held, mode, desk.random.pick(['asks', 'listens']));
    await passSome(desk, workMs, held.signal);
    belief?.end();
  });
}
