import { expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { RedisLink } from '../../../lib/redis/client/redis-link.js';
import { Topics, watchUntil } from '../../../lib/redis/session/topics.js';

it('a wait ends when its caller gives up, also while the server does not answer the subscription', async () => {
  const subscribed = deferred();
  const unsubscribed: string[] = [];
  const topics = new Topics();
  topics.linkedBy({
    subscribe: () => subscribed.promise,
    unsubscribe: (channel: string) => unsubscribed.push(channel),
  } as unknown as RedisLink);
  const [giveUp, reason] = [new AbortController(), new Error('gave up')];
  const watching = watchUntil(topics, 'channel', giveUp.signal, () => Promise.reject(new Error('looked')));
  giveUp.abort(reason);
  await expect(watching).rejects.toBe(reason);
  subscribed.resolve();
  await expect.poll(() => unsubscribed).toEqual(['channel']);
});
