import { expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { Contender } from '../../../lib/redis/locks/contender.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';

/** A contender of a new session that waits for the answer of the server. */
function entering() {
  const keys = new RedisKeys('locks');
  const times = { timeoutMs: 10_000, provenAt: now(), serverTime: Date.now() };
  const session = new RedisSession('id', 'server', keys, times, { doubted() {} });
  const entry = { mode: 'exclusive', isCandidate: false, permits: 1, most: 1, label: undefined } as const;
  const limits = { releaseTimeoutMs: 1_000, lookEveryMs: 1_000 };
  const contender = new Contender(session, { name: 'k', queue: keys.queue('lock', 'k'), entry, ...limits });
  return { session, contender };
}

it('a grant is wanted when that is told before the answer that grants it', async () => {
  const { session, contender } = entering();
  session.received('w 1');
  contender.stands(['g', 7]);
  const isWanted = await new Promise((resolve) => {
    contender.granted!.demand!.watch(
      () => resolve(true),
      () => resolve(false),
    );
  });
  expect(isWanted).toBe(true);
});

it('a grant is revoked when that is told before the answer that grants it', () => {
  const { session, contender } = entering();
  session.received('r 1');
  contender.stands(['g', 7]);
  expect(contender.granted?.lease.state).toBe('revoking');
});
