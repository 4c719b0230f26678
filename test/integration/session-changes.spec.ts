import { expect, inject, it, onTestFinished } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { SESSION_STORY, sessionStory } from '../support/session-story.js';

it('a ZooKeeper session tells each change once, and its vitals', { timeout: 60_000 }, async () => {
  const proxy = await ZooKeeperFaultProxy.open(inject('zookeeper'));
  onTestFinished(() => proxy.close());
  const options = { connectString: proxy.connectString, basePath: freshBasePath(), sessionTimeoutMs: 10_000 };
  const client = zookeeper(options).create();
  onTestFinished(() => client.close());
  expect(await sessionStory(client, proxy, 10_000, () => proxy.expireSessions())).toEqual(SESSION_STORY);
});
