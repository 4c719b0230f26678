import { inject, it, onTestFinished } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { FaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { checkSessionStory } from '../support/session-story.js';

it('a ZooKeeper session tells each change once, and its vitals', { timeout: 60_000 }, async () => {
  const proxy = await FaultProxy.open(inject('zookeeper'));
  onTestFinished(() => proxy.close());
  const options = { connectString: proxy.connectString, basePath: freshBasePath(), sessionTimeoutMs: 4_000 };
  const client = zookeeper(options).create();
  onTestFinished(() => client.close());
  await checkSessionStory(client, proxy, 4_000, () => proxy.expireSessions());
});
