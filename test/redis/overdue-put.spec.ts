import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { GrantedLease } from '../../lib/contract/granted-lease.js';
import { LinkLostError } from '../../lib/redis/client/redis-error.js';
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

it('a put whose signal aborts does not wait until its turn is given back', { timeout: 10_000 }, async () => {
  const { queues } = clientsOf({ restartDelayMs: 0 })(server.url).coordination!;
  const limit = new AbortController();
  const reason = new Error('the time is over');
  const { run } = RedisLink.prototype;
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(function (this: RedisLink, call) {
    if (call.script === PUT) limit.abort(reason);
    return run.call(this, call);
  });
  onTestFinished(() => spy.mockRestore());
  const releasing = vi.spyOn(GrantedLease.prototype, 'release').mockReturnValue(new Promise(() => {}));
  onTestFinished(() => releasing.mockRestore());
  const request = { key: 'q', payloads: [Buffer.from('item')], maxItems: 0, wait: true };
  await expect(queues.put({ ...request, signal: limit.signal })).rejects.toBe(reason);
  expect(releasing).toHaveBeenCalledOnce();
});

it('a put whose answer was lost, and whose items are not found, is not known to have been made', async () => {
  const { queues } = clientsOf({ restartDelayMs: 0 })(server.url).coordination!;
  const { run } = RedisLink.prototype;
  let puts = 0;
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(async function (this: RedisLink, call) {
    if (call.script !== PUT || puts++ > 0) return run.call(this, call);
    this.close('the answer was lost');
    throw new LinkLostError('the answer was lost');
  });
  onTestFinished(() => spy.mockRestore());
  const { signal } = new AbortController();
  const put = queues.put({ key: 'q', payloads: [Buffer.from('item')], maxItems: 10, wait: false, signal });
  await expect(put).rejects.toMatchObject({
    code: 'LOCK_UNAVAILABLE',
    message: '"q": the answer was lost with the connection to Redis; whether it was put into "q" is not known',
  });
});
