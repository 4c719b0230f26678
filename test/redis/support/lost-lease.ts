import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { blockEventLoop } from '../../support/block-event-loop.js';
import { hold, requestFor } from './clients.js';

interface LostLease {
  readonly one: LockBackend;
  readonly other: LockBackend;
  readonly sessionMs: number;
  /** The time in which the key must be free. */
  readonly limitMs: number;
}

/** Whether `other` is granted a key whose holder was paused for longer than its session, and releases nothing. */
export async function isFreedWhenLost({ one, other, sessionMs, limitMs }: LostLease): Promise<boolean> {
  const lease = await hold(one, 'lost');
  blockEventLoop(sessionMs + 100);
  if (lease.isHeld()) throw new Error('the lease is not lost');
  const limit = new AbortController();
  const late = new Error('the key is not free');
  const timer = setTimeout(() => limit.abort(late), limitMs);
  const next = await other.acquire(requestFor('lost', { signal: limit.signal })).catch((error: unknown) => {
    if (error === late) return null;
    throw error;
  });
  clearTimeout(timer);
  return next !== null && next.fencingToken > lease.fencingToken;
}
