import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../../lib/async/deferred.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { freshBasePath } from '../../../support/base-path.js';
import { eventually } from '../../../support/eventually.js';
import { openService } from '../../../support/services.js';
import { ANYONE, EMPTY, startServer } from './servers.js';

// alone: one of the longest files.

const connected = async () => {
  const zookeeper = await startServer();
  return { zookeeper, ...(await connectClient(zookeeper.connectString)) };
};

const holding = async () => {
  const zookeeper = await startServer();
  const basePath = freshBasePath();
  const locks = await openService({ connectString: zookeeper.connectString, basePath });
  const lease = await locks.acquire('k');
  const [path = ''] = zookeeper.paths(`${basePath}/k`).slice(1);
  return { zookeeper, locks, lease, basePath, path };
};

describe('a fault of a session', () => {
  it('expires it: its znode is deleted, its lease is lost, and others get the lock', async () => {
    const { zookeeper, lease, path, basePath } = await holding();
    const other = await openService({ connectString: zookeeper.connectString, basePath });
    const lost = once(lease.signal, 'abort');
    zookeeper.session(path).expire();
    expect(zookeeper.znode(path)).toBeUndefined();
    await lost;
    expect([lease.state, lease.isHeld()]).toEqual(['lost', false]);
    const next = await other.acquire('k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it.each(['fin', 'rst'] as const)('disconnects it, and it comes back: %s', async (how) => {
    const { zookeeper, client, told, next } = await connected();
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const again = next('connected');
    zookeeper.session('/own').disconnect(how);
    await again;
    expect((await client.read('/own')).stat.ephemeralOwner).toBe(zookeeper.ownerOf('/own'));
    expect(told).toEqual(['connected', 'disconnected', 'connected']);
  });

  it('makes its connection half-open, and its lease survives', async () => {
    const { zookeeper, lease, path } = await holding();
    const session = zookeeper.session(path);
    const portOf = (cons: string) => new RegExp(`:(\\d+)\\[.*sid=0x${session.id.toString(16)},`).exec(cons)?.[1];
    const before = portOf(await zookeeper.ask('cons'));
    expect(before).toBeDefined();
    session.blackHole();
    // The client drops the silent connection, and moves the session to another one.
    const another = async () => ![before, undefined].includes(portOf(await zookeeper.ask('cons'))) || undefined;
    await eventually(another, 'another connection');
    await eventually(() => lease.state === 'held' || undefined, 'the lease is held again');
    expect(zookeeper.ownerOf(path)).toBe(session.id);
  });

  it('delays its replies while it is paused', async () => {
    const { zookeeper, client } = await connected();
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const session = zookeeper.session('/own');
    session.pause();
    let isAnswered = false;
    const answer = client.read('/own').then(() => (isAnswered = true));
    await zookeeper.idle();
    expect(isAnswered).toBe(false);
    session.resume();
    expect(await answer).toBe(true);
  });

  it('delays its replies by a time', async () => {
    const { zookeeper, client } = await connected();
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    zookeeper.session('/own').delay(300);
    const askedAt = performance.now();
    await client.read('/own');
    expect(performance.now() - askedAt).toBeGreaterThan(290);
  });

  it('selects it by its id, by its znode, or throws', async () => {
    const { zookeeper, path } = await holding();
    const { id } = zookeeper.session(path);
    expect(zookeeper.session(id).ephemerals).toEqual([path]);
    expect(() => zookeeper.session('/nothing')).toThrow('there is no session behind /nothing');
  });
});

describe('a fault of a request', () => {
  it('fails it with an error code, once, and does not execute it', async () => {
    const { zookeeper, client } = await connected();
    const create = (path: string) => client.create({ path, data: EMPTY, acl: ANYONE, mode: 0 });
    const happened = zookeeper.failNext({ op: 'create2', path: '/a' }, -110);
    await create('/b');
    await expect(create('/a')).rejects.toMatchObject({ code: -110 });
    await happened;
    expect(zookeeper.znode('/a')).toBeUndefined();
    await create('/a');
  });

  it('executes it and loses its reply: a lock is still acquired, with one contender', async () => {
    const zookeeper = await startServer();
    const basePath = freshBasePath();
    const locks = await openService({ connectString: zookeeper.connectString, basePath });
    // The directory is known from now on, so the create is no part of a transaction.
    await locks.using('k', () => {});
    const lost = zookeeper.loseReply({ op: 'create2', path: new RegExp(`^${basePath}/k/`) });
    const lease = await locks.acquire('k');
    await lost;
    expect(zookeeper.paths(`${basePath}/k`)).toHaveLength(2);
    await lease.release();
    await eventually(() => zookeeper.paths(`${basePath}/k`).length === 1 || undefined, 'nothing is left');
  });

  it('executes it, and its caller gets a connection loss', async () => {
    const { zookeeper, client } = await connected();
    const lost = zookeeper.loseReply({ op: 'create2', path: '/a' });
    const create = client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    await expect(create).rejects.toMatchObject({ isConnectionLoss: true });
    await lost;
    expect(zookeeper.znode('/a')?.kind).toBe('persistent');
  });

  it('selects it by the type that it was sent with, also in a transaction', async () => {
    const { zookeeper, client } = await connected();
    const failed = zookeeper.failNext({ op: 'create2', path: '/a' }, -102);
    const op = { type: 'create2', path: '/a', data: EMPTY, acl: ANYONE, flags: 0 } as const;
    await expect(client.multi([op])).rejects.toMatchObject({ code: -102 });
    await failed;
  });

  it('selects it by a global regular expression, whatever its lastIndex', async () => {
    const { zookeeper, client } = await connected();
    const path = /^\/a/g;
    for (let round = 0; round < 4; round++) {
      void zookeeper.failNext({ op: 'create2', path }, -102);
      const create = client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
      await expect(create).rejects.toMatchObject({ code: -102 });
    }
  });

  it('loses it before it is executed', async () => {
    const { zookeeper, client } = await connected();
    const lost = zookeeper.loseRequest({ op: 'create2' });
    const create = client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    await expect(create).rejects.toMatchObject({ isConnectionLoss: true });
    await lost;
    expect(zookeeper.znode('/a')).toBeUndefined();
  });
});

describe('a fault of the server', () => {
  it('refuses connections, until it is healed', async () => {
    const { zookeeper, told, next } = await connected();
    zookeeper.refuse();
    const gone = next('disconnected');
    zookeeper.disconnect();
    await gone;
    await expect(connectClient(zookeeper.connectString, { isClosedByCaller: true }).then(() => 'in')).not.toBe('in');
    const back = next('connected');
    zookeeper.heal();
    await back;
    expect(told).toEqual(['connected', 'disconnected', 'connected']);
  });

  it('silences it while it is frozen; no session ends meanwhile', async () => {
    const { zookeeper, lease, path } = await holding();
    zookeeper.freeze();
    const lost = once(lease.signal, 'abort');
    // The client detects it by its own clock, without any message.
    await lost;
    expect(zookeeper.ownerOf(path)).toBeDefined();
    zookeeper.thaw();
    await eventually(() => zookeeper.znode(path) === undefined || undefined, 'the lost lease is cleared away');
  });

  it('delays replies, also to later clients, until it is healed', async () => {
    const zookeeper = await startServer();
    zookeeper.delay(200);
    const startedAt = performance.now();
    const { client } = await connectClient(zookeeper.connectString);
    await client.read('/');
    expect(performance.now() - startedAt).toBeGreaterThan(390);
  });

  it('drops all bytes until it is healed, and then resets the connections', async () => {
    const { zookeeper, client, told, next } = await connected();
    zookeeper.blackHole();
    const read = client.read('/');
    await zookeeper.idle();
    const [gone, back] = [next('disconnected'), next('connected')];
    zookeeper.heal();
    await expect(read).rejects.toMatchObject({ isConnectionLoss: true });
    await gone;
    await back;
    expect(told).toEqual(['connected', 'disconnected', 'connected']);
  });

  it('holds back the events of a path', async () => {
    const { zookeeper, client } = await connected();
    await client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    const watch = await client.watch('/a');
    expect(zookeeper.watchersOf('/a')).toEqual(zookeeper.sessions().map(({ id }) => id));
    const release = zookeeper.holdEvents('/a');
    const [fired, told] = [deferred(), { isTold: false }];
    void watch.fired.then(() => {
      told.isTold = true;
      fired.resolve();
    });
    await client.delete('/a');
    await zookeeper.idle();
    expect(told.isTold).toBe(false);
    release();
    await fired.promise;
  });

  it('sets the next sequence number, up to the end of the range', async () => {
    const { zookeeper, client } = await connected();
    await client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    zookeeper.setSequence('/a', 2_147_483_646);
    const one = () => client.create({ path: '/a/n-', data: EMPTY, acl: ANYONE, mode: 3 });
    expect((await one()).path).toBe('/a/n-2147483646');
    expect((await one()).path).toBe('/a/n-2147483647');
    await expect(one()).rejects.toMatchObject({ code: -110 });
  });
});
