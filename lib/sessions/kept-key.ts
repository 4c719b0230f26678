import { now } from '../async/clock.js';
import { limited } from '../async/timer.js';

/** The answer to a request that did not wait, when the only contender may hold a lease that is merely kept warm. */
export const MAY_BE_KEPT = Symbol('the only contender may keep the key without using it');

const SHORTEST_GRACE_MS = 20;
const LONGEST_GRACE_MS = 500;

/**
 * Acquires a key for a request that does not wait. A process releases a lease that it only keeps warm (`keepMs`) as soon as
 * another contender waits. So the request waits for about as long as that takes, where the key may be kept.
 * @param enter requests the key, and waits if it is told to
 */
export async function tryKept<T>(
  signal: AbortSignal,
  enter: (wait: boolean, signal: AbortSignal) => Promise<T | typeof MAY_BE_KEPT | null>,
): Promise<T | null> {
  const sentAt = now();
  const tried = await enter(false, signal);
  if (tried !== MAY_BE_KEPT) return tried;
  const graceMs = Math.min(3 * (now() - sentAt) + SHORTEST_GRACE_MS, LONGEST_GRACE_MS);
  const granted = await limited(graceMs, signal, (limit) => enter(true, limit));
  return granted === undefined || granted === MAY_BE_KEPT ? null : granted;
}
