import { expect, it, vi } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { now } from '../../../lib/async/clock.js';
import { LinkLostError, RefusedError } from '../../../lib/redis/client/redis-error.js';
import { acquireOne } from '../../../lib/redis/locks/acquire.js';
import { Contender } from '../../../lib/redis/locks/contender.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { linkByHand } from './support/link-by-hand.js';

/** A new session, and what a caller wants of it. */
function begun() {
  const keys = new RedisKeys('locks');
  const times = { timeoutMs: 10_000, provenAt: now(), serverTime: Date.now() };
  const session = new RedisSession('id', 'server', keys, times, { doubted() {} });
  const entry = { mode: 'exclusive', isCandidate: false, permits: 1, most: 1, label: undefined } as const;
  const limits = { releaseTimeoutMs: 1_000, lookEveryMs: 1_000 };
  return { session, wanted: { name: 'k', queue: keys.queue('lock', 'k'), entry, ...limits } };
}

/** A contender of a new session that waits for the answer of the server. */
function entering() {
  const { session, wanted } = begun();
  return { session, contender: new Contender(session, wanted) };
}

/** A link whose requests are answered by hand. */
function openLink(session: RedisSession) {
  const asked = linkByHand(session);
  /** Loses the link, and resolves with the next one. */
  const followed = async () => {
    asked.forEach(({ answer }) => answer.reject(new LinkLostError('it was cut')));
    await vi.waitFor(() => expect(session.isLinked).toBe(false));
    return openLink(session);
  };
  return { asked, followed };
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

it('an entry leaves the queue when it was taken away before its request, sent again, is answered', async () => {
  const { session, wanted } = begun();
  const first = openLink(session);
  const ended = expect(acquireOne(session, wanted, { line: 'fifo', wait: true }, NEVER)).rejects.toThrow('is gone');
  session.received('x 1');
  const second = await first.followed();
  await vi.waitFor(() => expect(second.asked).toHaveLength(1));
  second.asked[0]!.answer.resolve(['POSITIONS', ['g', 7, 0]]);
  await ended;
  expect(second.asked.map(({ script }) => script)).toEqual(['ACQUIRE', 'LEAVE']);
});

it('a held entry is looked for until the server tells where it stands', async () => {
  const { session, contender } = entering();
  openLink(session);
  contender.stands(['g', 7]);
  session.cut();
  const { asked } = openLink(session);
  expect(asked.map(({ script }) => script)).toEqual(['LOOK']);
  asked[0]!.answer.reject(new RefusedError('BUSY', 'BUSY Redis is busy running a script'));
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  asked[1]!.answer.resolve(['POSITIONS', ['0']]);
  await vi.waitFor(() => expect(contender.granted?.lease.state).toBe('lost'));
});

it('an entry is not looked for before its request is answered, even if a link is lost', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { session, wanted } = begun();
    const first = openLink(session);
    const granted = acquireOne(session, wanted, { line: 'fifo', wait: true }, NEVER);
    const second = await first.followed();
    await vi.runAllTimersAsync();
    expect(second.asked.map(({ script }) => script)).toEqual(['ACQUIRE']);
    second.asked[0]!.answer.resolve(['POSITIONS', ['g', 7, 0]]);
    expect((await granted)?.lease.isHeld()).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});
