import { once } from 'node:events';
import { connect } from 'node:net';
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

it('keeps an owner waiting that connects again meanwhile, and would take its session back', async () => {
  const zookeeper = await EmbeddedZooKeeper.start();
  onTestFinished(() => zookeeper.stop());
  const proxy = await ZooKeeperFaultProxy.open(zookeeper.port);
  onTestFinished(() => proxy.close());
  await connectClient(proxy.connectString);
  await zookeeper.kill();
  const { accepted } = proxy;
  const expiring = proxy.expireSessions().catch((error: unknown) => error);
  const owner = connect(proxy.port, '127.0.0.1');
  onTestFinished(() => void owner.destroy());
  owner.on('error', () => {});
  await once(owner, 'connect');
  await new Promise(setImmediate);
  expect(proxy.accepted).toBe(accepted);
  await expiring;
  await expect.poll(() => proxy.accepted).toBeGreaterThan(accepted);
});
