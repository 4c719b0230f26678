import { expect, it, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { LinkLostError, RefusedError } from '../../../lib/redis/client/redis-error.js';
import { adopt } from '../../../lib/redis/session/adoption.js';
import { entryText } from '../../../lib/redis/session/entry.js';
import { RedisHold } from '../../../lib/redis/session/redis-hold.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { linkByHand } from './support/link-by-hand.js';

const keys = new RedisKeys('locks');

function sessionOn(server: string): RedisSession {
  const times = { timeoutMs: 10_000, provenAt: now(), serverTime: Date.now() };
  return new RedisSession(`on-${server}`, server, keys, times, { doubted() {} });
}

/** A hold of a session whose server was replaced, and the session on the next one. */
function replaced() {
  const [former, session] = [sessionOn('former'), sessionOn('next')];
  const entry = { mode: 'exclusive', permits: 1, most: 1, since: 0, label: undefined } as const;
  const own = { ...entry, session: former.id, number: 1 };
  const place = { queue: keys.queue('lock', 'k'), entry: entryText(own) };
  const hold = new RedisHold(former, own, { token: '7', isWanted: false }, { name: 'k', place, releaseTimeoutMs: 100 });
  former.end('the server was restarted', 'kept');
  return { former, session, hold };
}

it('a hold whose adoption the server refuses at first is adopted', async () => {
  const { former, session, hold } = replaced();
  const asked = linkByHand(session);
  const adopted = adopt(former, session);
  asked[0]!.answer.reject(new RefusedError('BUSY', 'BUSY Redis is busy running a script'));
  await vi.waitFor(() => expect(asked).toHaveLength(2));
  asked[1]!.answer.resolve(['ADOPTED', 1]);
  await adopted;
  expect(asked.map(({ script }) => script)).toEqual(['ADOPT', 'ADOPT', 'LOOK']);
  expect(session.leases.size).toBe(1);
  expect(hold.lease.isHeld()).toBe(true);
});

it('a hold that is released while its adoption is in doubt leaves no entry', async () => {
  const { former, session, hold } = replaced();
  const first = linkByHand(session);
  const adopted = adopt(former, session);
  first[0]!.answer.reject(new LinkLostError('it was cut'));
  await vi.waitFor(() => expect(session.isLinked).toBe(false));
  const second = linkByHand(session);
  await vi.waitFor(() => expect(second).toHaveLength(1));
  second[0]!.answer.reject(new RefusedError('OOM', 'OOM command not allowed'));
  await hold.lease.release();
  await vi.waitFor(() => expect(second).toHaveLength(2));
  second[1]!.answer.resolve(['ADOPTED', 1]);
  await adopted;
  expect(second.map(({ script }) => script)).toEqual(['ADOPT', 'ADOPT', 'LEAVE']);
});
