import { now } from '../async/clock.js';
import { limited } from '../async/timer.js';
import type { LockRequest } from '../contract/lock-request.js';

/** The answer to a request that did not wait, when the only contender may hold a lease that is merely kept warm. */
export const MAY_BE_KEPT = Symbol('the only contender may keep the key without using it');

const SHORTEST_GRACE_MS = 20;
const LONGEST_GRACE_MS = 500;

/**
 * Acquires a key. A process releases a lease that it only keeps warm (`keepMs`) as soon as another contender waits. So a
 * request in line that does not wait stands there for about as long as that takes, where the key may be kept.
 * @param enter requests the key, and waits if it is told to
 */
export async function tryKept<T>(
  { line, wait }: Pick<LockRequest, 'line' | 'wait'>,
  signal: AbortSignal,
  enter: (waits: boolean, signal: AbortSignal) => Promise<T | typeof MAY_BE_KEPT | null>,
): Promise<T | null> {
  const isInLine = line === 'fifo';
  const sentAt = now();
  const tried = await enter(wait && isInLine, signal);
  if (tried !== MAY_BE_KEPT) return tried;
  if (!isInLine) return null;
  const graceMs = Math.min(3 * (now() - sentAt) + SHORTEST_GRACE_MS, LONGEST_GRACE_MS);
  const granted = await limited(graceMs, signal, (limit) => enter(true, limit));
  return granted === undefined || granted === MAY_BE_KEPT ? null : granted;
}
