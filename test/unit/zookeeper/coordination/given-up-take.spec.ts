import { expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddedZooKeeper } from '../../../../lib/testing/index.js';
import { coordinated } from '../../../support/coordination/services.js';
import { openClient } from '../../../support/znodes.js';

// A busy machine may need more than a tenth of a second to reconnect.
vi.mock('../../../../lib/zookeeper/recipes/wait-for-turn.js', async (original) => ({
  ...(await original<object>()),
  LEAVING_MS: 60_000,
}));

it('a take that is given up with its claim in doubt returns the item before it rejects', async () => {
  const zookeeper = await EmbeddedZooKeeper.start();
  onTestFinished(() => zookeeper.stop());
  const { one, basePath } = await coordinated(zookeeper.connectString);
  await one.queue('q').putAll(['first', 'second']);
  await (await one.queue('q').take())!.ack();
  const claimed = zookeeper.loseReply({ op: 'multi' });
  zookeeper.refuse();
  const abort = new AbortController();
  const taking = one.queue('q').take({ signal: abort.signal });
  await claimed;
  const claims = () => zookeeper.paths(`${basePath}/%queues/test%2Fq/claims`).slice(1);
  expect(claims()).toHaveLength(1);
  abort.abort(new Error('given up'));
  zookeeper.heal();
  await expect(taking).rejects.toThrow('given up');
  expect(claims()).toEqual([]);
});

it('a take that is given up while it creates the directory of the claims claims nothing', async () => {
  const zookeeper = await EmbeddedZooKeeper.start();
  onTestFinished(() => zookeeper.stop());
  const { one, basePath } = await coordinated(zookeeper.connectString);
  const client = await openClient(zookeeper.connectString);
  await one.queue('q').put('first');
  const claims = `${basePath}/%queues/test%2Fq/claims`;
  const created = zookeeper.loseReply({ op: 'createContainer', path: claims });
  const abort = new AbortController();
  const taking = one.queue('q').take({ signal: abort.signal });
  await created;
  abort.abort(new Error('given up'));
  await expect(taking).rejects.toThrow('given up');
  // A directory is created with a child that is deleted at once. A claim that was put back would be two more changes.
  expect((await client.read(claims)).stat.cversion).toBe(2);
});
