import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { SESSION_STORY, sessionStory } from '../support/session-story.js';
import { clientsOf } from './support/clients.js';

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
