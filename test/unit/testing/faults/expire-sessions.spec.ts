import { expect, it, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper, ZooKeeperFaultProxy } from '../../../../lib/testing/index.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';

it('rejects when the server of the sessions to expire is gone, and leaves no unhandled rejection', async () => {
  const zookeeper = await EmbeddedZooKeeper.start();
  onTestFinished(() => zookeeper.stop());
  const proxy = await ZooKeeperFaultProxy.open(zookeeper.port);
  onTestFinished(() => proxy.close());
  await connectClient(proxy.connectString);
  proxy.blackHole();
  await zookeeper.kill();
  await expect(proxy.expireSessions()).rejects.toThrow(/the server did not end session 0x/);
});
