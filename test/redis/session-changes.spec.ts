import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import { SIZE } from '../../lib/redis/scripts/coordination-scripts.js';
import { JOIN } from '../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { SESSION_STORY, sessionStory } from '../support/session-story.js';
import { clientsOf } from './support/clients.js';
import { linkTo, ScriptSession } from './support/script-session.js';

/** Long enough for a busy machine to connect again in the same session. */
const SESSION_MS = 6_000;

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

it('a Redis session tells each change once, and its vitals', { timeout: 60_000 }, async () => {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const client = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: SESSION_MS })(`redis://127.0.0.1:${proxy.port}`);
  expect(await sessionStory(client, proxy, SESSION_MS)).toEqual(SESSION_STORY);
});

it('a Redis session that its client has given up is named to the server by the next one', async () => {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const client = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 1_000 })(`redis://127.0.0.1:${proxy.port}`);
  await client.connect();
  const former = client.vitals?.().sessionId;
  expect(former).toEqual(expect.any(String));
  const run = vi.spyOn(RedisLink.prototype, 'run');
  onTestFinished(() => run.mockRestore());
  proxy.refuse();
  proxy.disconnect();
  await expect.poll(() => client.state).toBe('lost');
  proxy.heal();
  await client.connect();
  const [[join] = []] = run.mock.calls.filter(([{ script }]) => script === JOIN);
  expect(join?.values).toContain(former);
});

it('a Redis session that the next one has named is over: its late requests have no effect', async () => {
  const [link, keys] = [await linkTo(server.url), new RedisKeys('test/overdue')];
  const former = await new ScriptSession(link, keys).join();
  const next = await new ScriptSession(link, keys).join({ overdue: former.id });
  const size = (session: ScriptSession) => session.run(SIZE, [keys.of('items', 'k')]);
  expect([await size(former), await size(next)]).toEqual([['GONE'], ['SIZE', 0]]);
});
