import type { GrantedLease } from '../../contract/granted-lease.js';
import { grantAll } from '../../contract/granted-set.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { flag } from '../client/script.js';
import { ACQUIRE } from '../scripts/lock-scripts.js';
import { MAY_BE_KEPT, tryKept } from '../../sessions/kept-key.js';
import type { RedisHold } from '../session/redis-hold.js';
import type { RedisSession } from '../session/redis-session.js';
import { Contender, EntryGoneError } from './contender.js';
import type { Position, Wanted } from './contender.js';
import { settled } from './settled.js';

/**
 * Acquires a place in one wait queue, or in several in one step. Resolves with contenders that are granted or wait;
 * with `null` or `MAY_BE_KEPT` when the request must not wait and another contender is ahead.
 * @throws SessionEndedError, RefusedError, `signal.reason`
 */
async function enterQueues(
  session: RedisSession,
  wanted: readonly Wanted[],
  waits: boolean,
  signal: AbortSignal,
): Promise<readonly Contender[] | typeof MAY_BE_KEPT | null> {
  for (;;) {
    const contenders = wanted.map((one) => new Contender(session, one));
    const keys = new Array<string>().concat(...contenders.map(({ place }) => place.queue));
    const entries = contenders.map(({ place }) => place.entry);
    const values = (again: boolean) => [flag(waits), flag(again)].concat(entries);
    try {
      const answer = await session.run(ACQUIRE, keys, values, { signal });
      const [word, first] = answer;
      if (word === 'GRANTED') contenders[0]?.stands(['g', first as number]);
      if (word === 'POSITIONS') contenders.forEach((one, place) => one.stands(answer[place + 1] as Position));
      if (word === 'GRANTED' || word === 'POSITIONS') return contenders;
      contenders.forEach((contender) => contender.drop());
      if (word === 'REFUSED') return first === 1 ? MAY_BE_KEPT : null;
      await settled(Number(first), wanted[0]?.name, signal);
    } catch (error) {
      // The request may have been carried out, or may still be.
      await Promise.all(contenders.map((contender) => contender.leave()));
      throw error;
    }
  }
}

/** Acquires one key. @throws SessionEndedError, RefusedError, `signal.reason` */
export function acquireOne(
  session: RedisSession,
  wanted: Wanted,
  request: Pick<LockRequest, 'line' | 'wait'>,
  signal: AbortSignal,
): Promise<RedisHold | null> {
  return tryKept(request, signal, async (waits, limit) => {
    const entered = await enterQueues(session, [wanted], waits, limit);
    if (entered === MAY_BE_KEPT) return MAY_BE_KEPT;
    const [contender] = entered ?? [];
    return contender ? (contender.granted ?? contender.untilGranted(limit)) : null;
  });
}

/** Acquires several keys in one step: all or none. @throws SessionEndedError, RefusedError, `signal.reason` */
export async function acquireSet(
  session: RedisSession,
  wanted: readonly Wanted[],
  requests: readonly LockRequest[],
): Promise<readonly GrantedLease[] | null> {
  const [first] = requests;
  if (!first) return [];
  const contenders = await enterQueues(session, wanted, first.wait && first.line === 'fifo', first.signal);
  if (!contenders || contenders === MAY_BE_KEPT) return null;
  const leaseOf = async (request: LockRequest, place: number) =>
    (await contenders[place]?.untilGranted(request.signal))?.lease ?? null;
  return grantAll(requests, leaseOf, () => new EntryGoneError());
}
