import { describe, expect, it, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { CreateMode } from '../../../lib/zookeeper/session/requests.js';
import { freshBasePath } from '../../support/base-path.js';
import { openCoordination } from '../../support/coordination/services.js';
import { eventually } from '../../support/eventually.js';
import { openClient } from '../../support/znodes.js';

const SHORT_MS = 4_000;
const LONG_MS = 10_000;
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/** A service whose server is out of reach from the next loss on. */
async function withOutage(sessionTimeoutMs: number) {
  const server = await EmbeddedZooKeeper.start();
  onTestFinished(() => server.stop());
  const basePath = freshBasePath();
  const { connectString } = server;
  const service = await openCoordination({ connectString, basePath, sessionTimeoutMs });
  const below = (path: string) => server.paths(`${basePath}/${path}`).slice(1);
  return { server, service, below, basePath };
}

describe('a member of a double barrier, without a server', () => {
  it('gives up entering once its session may have expired, though its create is not answered', async () => {
    const { server, service, below } = await withOutage(SHORT_MS);
    await service.doubleBarrier('d', { count: 1 }).enter();
    const lost = server.loseReply({ op: 'create2', path: /double-barriers/ }).then(() => server.refuse());
    const entering = service.doubleBarrier('d', { count: 2 }).enter({ waitMs: 300 });
    await Promise.all([lost, expect(entering).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' })]);
    server.heal();
    await eventually(() => below('%double-barriers/test%2Fd').every((path) => path.endsWith('/ready')), 'it is out');
  });

  it('gives up leaving as the last, and leaves nothing behind', async () => {
    const { server, service, below } = await withOutage(LONG_MS);
    const member = await service.doubleBarrier('d', { count: 1 }).enter();
    const lost = server.loseRequest({ op: 'delete', path: /double-barriers/ }).then(() => server.refuse());
    await Promise.all([
      lost,
      expect(member.leave({ waitMs: 300 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' }),
    ]);
    server.heal();
    await eventually(() => below('%double-barriers/test%2Fd').length === 0, 'it is out');
  });
});

describe('an item that is acknowledged, without a server', () => {
  it('is reported as lost once its lease is', async () => {
    const { server, service, below } = await withOutage(SHORT_MS);
    await service.queue('q').put('one');
    const item = (await service.queue('q').take())!;
    const lost = server.loseReply({ op: 'delete', path: /queue-/ }).then(() => server.refuse());
    await Promise.all([lost, expect(item.ack()).rejects.toMatchObject({ code: 'LOCK_LOST' })]);
    await item.nack();
    expect(item.isHeld()).toBe(false);
    server.heal();
    expect(below('%queues/test%2Fq/items')).toEqual([]);
  });

  it('is not removed any more after its caller was told that it is lost', async () => {
    const { server, service } = await withOutage(SHORT_MS);
    await service.queue('q').put('one');
    const item = (await service.queue('q').take())!;
    // A server that is restarted counts the timeouts of sessions anew, so this one goes on.
    const killed = server.loseRequest({ op: 'delete', path: /queue-/ }).then(() => server.kill());
    await Promise.all([killed, expect(item.ack()).rejects.toMatchObject({ code: 'LOCK_LOST' })]);
    await item.nack();
    await server.restart();
    expect((await service.queue('q').take({ waitMs: 20_000 }))?.value).toBe('one');
  });

  /** An item whose acknowledgement is in doubt, a client that stays connected, and the paths of item and claim. */
  async function inDoubt(doubt: 'loseReply' | 'loseRequest') {
    const { server, service, basePath, below } = await withOutage(LONG_MS);
    const client = await openClient(server.connectString);
    await service.queue('q').put('one');
    const item = (await service.queue('q').take())!;
    const queue = `${basePath}/%queues/test%2Fq`;
    const [name = ''] = await client.children(`${queue}/claims`);
    const lost = server[doubt]({ op: 'delete', path: /queue-/ }).then(() => server.refuse());
    const acking = item.ack();
    await lost;
    const claims = () => below('%queues/test%2Fq/claims');
    return { server, client, acking, claims, item: `${queue}/items/${name}`, claim: `${queue}/claims/${name}` };
  }

  it('leaves no claim behind when another client deletes the item meanwhile', async () => {
    const { server, client, acking, claims, item } = await inDoubt('loseRequest');
    await client.delete(item);
    server.heal();
    await acking;
    expect(claims()).toEqual([]);
  });

  it('leaves the claim of another client alone', async () => {
    const { server, client, acking, claims, claim } = await inDoubt('loseReply');
    await client.create({ path: claim, data: Buffer.alloc(0), acl: OPEN, mode: CreateMode.ephemeral });
    server.heal();
    await acking;
    expect(claims()).toEqual([claim]);
  });
});
