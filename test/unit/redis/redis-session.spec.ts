import { expect, it } from 'vitest';
import { NEVER, orAbort } from '../../../lib/async/abort.js';
import { now } from '../../../lib/async/clock.js';
import { deferred } from '../../../lib/async/deferred.js';
import type { RedisLink } from '../../../lib/redis/client/redis-link.js';
import { WRITE_RECORDS } from '../../../lib/redis/scripts/record-scripts.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { SessionEndedError } from '../../../lib/sessions/backend-sessions.js';

/** A session on a link that answers as the test says. */
function onLink(run: RedisLink['run'], doubted = () => {}): RedisSession {
  const times = { timeoutMs: 10_000, provenAt: now(), serverTime: Date.now() };
  const session = new RedisSession('id', 'server', new RedisKeys('locks'), times, { doubted });
  session.linkedBy({ run } as unknown as RedisLink);
  return session;
}

it('an answer that comes after the end of the session leaves the next one in doubt', async () => {
  const answer = deferred<unknown>();
  const session = onLink(() => answer.promise);
  const doubt = { isSo: false };
  const ended = expect(session.run(WRITE_RECORDS, [], [], { doubt })).rejects.toThrow(SessionEndedError);
  session.end('it was not renewed in time');
  answer.resolve(['APPLIED', '1']);
  await ended;
  expect(doubt.isSo).toBe(true);
});

it.each([0, 1])(
  'a request that no answer has come to when its signal aborts is in doubt, late by %i ms',
  async (lateMs) => {
    const [limit, reason, doubt] = [new AbortController(), new Error('the time is over'), { isSo: false }];
    const session = onLink(({ signal }) => orAbort(new Promise(() => {}), signal ?? NEVER));
    const running = session.run(WRITE_RECORDS, [], [], { doubt, lateMs, signal: limit.signal });
    limit.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(doubt.isSo).toBe(true);
  },
);

it.each(['NEWSERVER', 'GONE'])('a request that was answered with %s has not run, and is not in doubt', async (word) => {
  const [limit, reason, doubt] = [new AbortController(), new Error('the time is over'), { isSo: false }];
  const session = onLink(
    () => Promise.resolve([word]),
    () => limit.abort(reason),
  );
  await expect(session.run(WRITE_RECORDS, [], [], { doubt, signal: limit.signal })).rejects.toBe(reason);
  expect(doubt.isSo).toBe(false);
});

it('a request that was answered that the session is over runs again when a renewal finds that it lives', async () => {
  const answers = [['GONE'], ['SIZE', 7]];
  const session = onLink(
    () => Promise.resolve(answers.shift()),
    () => queueMicrotask(() => session.proven(now(), Date.now())),
  );
  expect(await session.run(WRITE_RECORDS, [], [])).toEqual(['SIZE', 7]);
});
