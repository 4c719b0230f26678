import { expect, it } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { deferred } from '../../../lib/async/deferred.js';
import type { RedisLink } from '../../../lib/redis/client/redis-link.js';
import { WRITE_RECORDS } from '../../../lib/redis/scripts/record-scripts.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { SessionEndedError } from '../../../lib/sessions/backend-sessions.js';

it('an answer that comes after the end of the session leaves the next one in doubt', async () => {
  const times = { timeoutMs: 10_000, provenAt: now(), serverTime: Date.now() };
  const session = new RedisSession('id', 'server', new RedisKeys('locks'), times, { doubted() {} });
  const answer = deferred<unknown>();
  session.linkedBy({ run: () => answer.promise } as unknown as RedisLink);
  const doubt = { isSo: false };
  const ended = expect(session.run(WRITE_RECORDS, [], [], { doubt })).rejects.toThrow(SessionEndedError);
  session.end('it was not renewed in time');
  answer.resolve(['APPLIED', '1']);
  await ended;
  expect(doubt.isSo).toBe(true);
});
