import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { SESSION_STORY, sessionStory } from '../support/session-story.js';
import { clientsOf } from './support/clients.js';

/** Long enough for a busy machine to connect again in the same session. */
const SESSION_MS = 6_000;

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

it('an etcd session tells each change once, and its vitals', { timeout: 60_000 }, async () => {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  expect(
    await sessionStory(clientsOf({ sessionTimeoutMs: SESSION_MS }).open(proxy.connectString), proxy, SESSION_MS),
  ).toEqual(SESSION_STORY);
});
