import { expect, it, onTestFinished, vi } from 'vitest';
import { RedisLocks } from '../../../lib/redis/redis-locks.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { RedisSession } from '../../../lib/redis/session/redis-session.js';

// A timer of Node may end up to a millisecond early by the clock.
vi.mock('../../../lib/async/clock.js', async (original) => ({
  ...(await original<object>()),
  now: () => Date.now() * 0.99,
}));

it('a revocation asks a holder again at each look that no release has caused: a message may be lost', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const asks: unknown[] = [];
  const run: RedisSession['run'] = async (_script, _keys, values) => {
    asks.push((values as readonly unknown[])[2]);
    return ['ASKED', '7', asks.length < 6 ? 1 : 0, 0];
  };
  const keys = new RedisKeys('b');
  const sessions = {
    keys,
    lookEveryMs: 100,
    topics: { watch: async () => () => {} },
    connected: { keys, run },
    inTime: async (ask: (signal: AbortSignal) => unknown) => ask(new AbortController().signal),
  };
  const locks = new RedisLocks({ of: () => sessions } as never, 900);
  vi.spyOn(locks, 'queuesOf').mockReturnValue([keys.queue('lock', 'k')]);
  const revoked = locks.revoke('k', { graceMs: 10_000, signal: undefined });
  await vi.advanceTimersByTimeAsync(1_000);
  await revoked;
  // The second one only looks, after it has begun to watch.
  expect(asks).toEqual(['1', '0', '1', '1', '1', '1']);
});
