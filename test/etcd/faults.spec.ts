import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { blockEventLoop } from '../support/block-event-loop.js';
import {
  clientsOf,
  compact,
  hold,
  keysBelow,
  lossOf,
  requestFor,
  revokeLease,
  SESSION_MS,
  write,
} from './support/clients.js';

let members: EtcdServer[];
/** The member to which most clients are connected. */
let server: EtcdServer;

beforeAll(async () => {
  members = await EtcdServer.startCluster(3);
  server = members[0] as EtcdServer;
});

afterAll(() => Promise.all(members.map((member) => member.stop())));

/** @param sessionTimeoutMs longer than the stalls of a busy machine, unless the test is about the end of a session */
async function setUp(sessionTimeoutMs = 12_000) {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const { open, basePath } = clientsOf({ sessionTimeoutMs });
  const one = open(proxy.connectString);
  await one.connect();
  const other = open(server.host);
  await other.connect();
  return { proxy, one, other, open, basePath };
}

describe('a link that is half open', () => {
  it('is noticed, and the lease goes on after it', async () => {
    const { proxy, one, other } = await setUp();
    const lease = await hold(one, 'k');
    proxy.blackHole();
    await expect.poll(() => lease.state, { interval: 5 }).toBe('suspended');
    expect(lease.isHeld()).toBe(true);
    proxy.disconnect();
    proxy.heal();
    await expect.poll(() => lease.state, { interval: 5 }).toBe('held');
    expect(lease.isHeld()).toBe(true);
    expect(await other.acquire(requestFor('k', { wait: false }))).toBeNull();
  });

  it('is left for another server, and the lease goes on there', async () => {
    const proxies = await Promise.all(members.map(({ port }) => FaultProxy.open(port)));
    onTestFinished(() => Promise.all(proxies.map((proxy) => proxy.close())).then(() => {}));
    const { open } = clientsOf({ sessionTimeoutMs: 20_000 });
    const client = open(proxies.map(({ connectString }) => connectString));
    const lease = await hold(client, 'k');
    const cut = proxies.find(({ connections }) => connections > 0);
    cut?.blackHole();
    await expect.poll(() => lease.state, { interval: 5 }).toBe('suspended');
    await expect.poll(() => lease.state, { interval: 5 }).toBe('held');
    expect(lease.isHeld()).toBe(true);
    const next = hold(client, 'k');
    await lease.release();
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('ends the lease on its own clock before the key is granted to another client', async () => {
    const { proxy, one, other } = await setUp(SESSION_MS);
    const lease = await hold(one, 'k');
    const lost = lossOf(lease);
    const waiting = hold(other, 'k').then((next) => ({ next, wasHeld: lease.isHeld() }));
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    proxy.blackHole();
    const { next, wasHeld } = await waiting;
    expect(wasHeld).toBe(false);
    await lost;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    proxy.heal();
    proxy.disconnect();
    const again = one.acquire(requestFor('k'));
    await next.release();
    expect((await again)?.fencingToken).toBeGreaterThan(next.fencingToken);
  });

  it('ends a request that may not wait with an error, in time', async () => {
    const { proxy, open, other } = await setUp();
    const cut = open(proxy.connectString, { connectTimeoutMs: 4_000 });
    await cut.connect();
    proxy.blackHole();
    await expect(cut.acquire(requestFor('k', { wait: false }))).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await hold(other, 'k');
  });
});

describe('a reply that is lost', () => {
  it('of a grant: the request resolves, and holds once', async () => {
    const { proxy, one, other } = await setUp();
    proxy.blackHole('toClient');
    const asked = hold(one, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length, { interval: 5 }).toBe(1);
    proxy.disconnect();
    proxy.heal();
    const lease = await asked;
    expect(await other.lineOf('k')).toMatchObject([{ state: 'held' }]);
    await lease.release();
    expect(await other.lineOf('k')).toEqual([]);
  });

  it('of a grant without waiting: the request resolves with the lease', async () => {
    const { proxy, one, other } = await setUp();
    proxy.blackHole('toClient');
    const asked = hold(one, 'k', { wait: false });
    await expect.poll(async () => (await other.lineOf('k')).length, { interval: 5 }).toBe(1);
    proxy.disconnect();
    proxy.heal();
    expect((await asked).isHeld()).toBe(true);
  });

  it('of a write of a record: the write is made once', async () => {
    const { proxy, one, other } = await setUp();
    // The write is seen before its own answer comes, which the read ahead of it must not lose.
    proxy.delay(1_000, 'toClient');
    const asked = one.records.write([{ name: 'r', value: '1', ifVersion: 'absent' }]);
    await expect.poll(() => other.records.read('r'), { interval: 5 }).toMatchObject({ value: '1' });
    proxy.disconnect();
    proxy.heal();
    expect(await asked).toMatchObject({ isApplied: true });
    proxy.cutAfter(1);
    expect(await one.records.write([{ name: 'r', value: '2', ifVersion: 0 }])).toMatchObject({ isApplied: true });
    expect(await other.records.read('r')).toMatchObject({ value: '2', version: 1 });
  });

  it('leaves no entry of a caller that gave up meanwhile', async () => {
    const { proxy, one, other } = await setUp();
    const leaving = new AbortController();
    proxy.blackHole('toClient');
    const asked = one.acquire(requestFor('k', { signal: leaving.signal }));
    await expect.poll(async () => (await other.lineOf('k')).length, { interval: 5 }).toBe(1);
    const reason = new Error('gave up');
    leaving.abort(reason);
    await expect(asked).rejects.toBe(reason);
    proxy.disconnect();
    proxy.heal();
    await expect.poll(() => other.lineOf('k')).toEqual([]);
  });
});

describe('a wait queue', () => {
  it('goes on when a release and a new entry are sent in one turn', async () => {
    const { open } = clientsOf({ sessionTimeoutMs: 120_000 });
    const client = open(server.host);
    let lease = await hold(client, 'k');
    for (let turn = 0; turn < 10; turn++) {
      const next = hold(client, 'k');
      await lease.release();
      lease = await next;
    }
    expect(await client.lineOf('k')).toHaveLength(1);
  });

  it('is kept in order while links are cut again and again', async () => {
    const { proxy, one, other } = await setUp();
    const first = await hold(other, 'k');
    const order: number[] = [];
    const waits = [];
    for (let turn = 0; turn < 8; turn++) {
      const client = turn % 2 === 0 ? one : other;
      waits.push(
        hold(client, 'k').then(async (lease) => {
          order.push(turn);
          if (turn % 3 === 0) proxy.disconnect();
          await lease.release();
        }),
      );
      await expect.poll(async () => (await other.lineOf('k')).length, { interval: 5 }).toBe(turn + 2);
    }
    proxy.disconnect();
    await first.release();
    await Promise.all(waits);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('is read again when the server has forgotten the changes that a link has missed', async () => {
    const { proxy, one, other } = await setUp();
    const first = await hold(other, 'k');
    const waiting = hold(one, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    proxy.refuse();
    proxy.disconnect();
    await expect.poll(() => one.state).toBe('suspended');
    await first.release();
    await write(server, 'elsewhere', '1');
    await compact(server);
    proxy.heal();
    expect((await waiting).fencingToken).toBeGreaterThan(first.fencingToken);
  });
});

describe('a lease that an operator revokes', () => {
  it('is lost before its time, and the next session is granted the key again', async () => {
    const { open, basePath } = clientsOf({ sessionTimeoutMs: 30_000 });
    const client = open(server.host);
    const lease = await hold(client, 'k');
    const lost = lossOf(lease);
    const since = performance.now();
    await revokeLease(server, basePath);
    expect((await lost) - since).toBeLessThan(15_000);
    expect(lease.isHeld()).toBe(false);
    const next = await hold(client, 'k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('sends waits to the end of the queue, in the next session', async () => {
    const { open, basePath } = clientsOf();
    const client = open(server.host);
    await client.connect();
    const waiting = hold(client, 'k');
    await revokeLease(server, basePath);
    expect((await waiting).isHeld()).toBe(true);
  });
});

describe('a process that was paused for longer than its lease', () => {
  it('does not believe in it in the first turn after that', async () => {
    const { one } = await setUp(SESSION_MS);
    const lease = await hold(one, 'k');
    blockEventLoop(SESSION_MS + 500);
    expect(lease.isHeld()).toBe(false);
  });
});

describe('close()', () => {
  it('leaves no key of the session', async () => {
    const { one, other, basePath } = await setUp(120_000);
    await hold(one, 'k');
    const waiting = other.acquire(requestFor('k')).catch((error: unknown) => error);
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    await Promise.all([other.close(), one.close()]);
    expect(await waiting).toMatchObject({ code: 'LOCK_SHUTDOWN' });
    // A busy server ends the lease later than close() waits, and long before its time.
    await expect.poll(() => keysBelow(server, `${basePath}/`)).toEqual([]);
  });
});
