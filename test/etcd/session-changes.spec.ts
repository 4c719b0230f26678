import { afterAll, beforeAll, it, onTestFinished } from 'vitest';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { checkSessionStory } from '../support/session-story.js';
import { clientsOf, SESSION_MS } from './support/clients.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

it('an etcd session tells each change once, and its vitals', { timeout: 60_000 }, async () => {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  await checkSessionStory(clientsOf().open(proxy.connectString), proxy, SESSION_MS);
});
