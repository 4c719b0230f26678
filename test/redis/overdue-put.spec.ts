import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import { PUT } from '../../lib/redis/scripts/coordination-scripts.js';
import { RedisServer } from '../../lib/testing/index.js';
import { clientsOf } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

it('a put that is sent in time, and that finds no room, rejects with the reason of its limit', async () => {
  const { queues } = clientsOf({ restartDelayMs: 0 })(server.url).coordination!;
  const limit = new AbortController();
  const request = { key: 'q', payloads: [Buffer.from('item')], maxItems: 1, wait: true };
  await queues.put({ ...request, signal: new AbortController().signal });
  const reason = new Error('the time is over');
  const { run } = RedisLink.prototype;
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(function (this: RedisLink, call) {
    const sent = run.call(this, call);
    if (call.script === PUT) limit.abort(reason);
    return sent;
  });
  onTestFinished(() => spy.mockRestore());
  await expect(queues.put({ ...request, signal: limit.signal })).rejects.toBe(reason);
});
