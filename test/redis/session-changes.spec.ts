import { afterAll, beforeAll, it, onTestFinished } from 'vitest';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { checkSessionStory } from '../support/session-story.js';
import { clientsOf, SESSION_MS } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

it('a Redis session tells each change once, and its vitals', { timeout: 60_000 }, async () => {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const client = clientsOf({ restartDelayMs: 0 })(`redis://127.0.0.1:${proxy.port}`);
  await checkSessionStory(client, proxy, SESSION_MS);
});
