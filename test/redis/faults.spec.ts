import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { blockEventLoop } from '../support/block-event-loop.js';
import { clientsOf, hold, lossOf, requestFor, SESSION_MS } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

async function setUp() {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const open = clientsOf({ restartDelayMs: 0 });
  const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(server.url)];
  await Promise.all([one.connect(), other.connect()]);
  return { proxy, one, other };
}

describe('a link that is half open', () => {
  it('is noticed within a third of the session timeout, and the lease goes on after it', async () => {
    const { proxy, one, other } = await setUp();
    const lease = await hold(one, 'k');
    proxy.blackHole();
    const since = performance.now();
    await expect.poll(() => lease.state, { interval: 5 }).toBe('suspended');
    expect(performance.now() - since).toBeLessThan(SESSION_MS / 3 + 100);
    expect(one.state).toBe('suspended');
    proxy.disconnect();
    proxy.heal();
    await expect.poll(() => lease.state).toBe('held');
    expect(lease.isHeld()).toBe(true);
    expect(await other.acquire(requestFor('k', { wait: false }))).toBeNull();
  });

  it('ends the lease on its own clock before the key is granted to another client', async () => {
    const { proxy, one, other } = await setUp();
    const lease = await hold(one, 'k');
    const lost = lossOf(lease);
    const waiting = hold(other, 'k').then((next) => ({ next, at: performance.now() }));
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    proxy.blackHole();
    const { next, at } = await waiting;
    expect(await lost).toBeLessThan(at);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    proxy.heal();
    proxy.disconnect();
    const again = one.acquire(requestFor('k'));
    await next.release();
    expect((await again)?.fencingToken).toBeGreaterThan(next.fencingToken);
  });

  it('ends a request that may not wait with an error, in time', async () => {
    const { proxy, other } = await setUp();
    const open = clientsOf({ restartDelayMs: 0, connectTimeoutMs: 1_000 });
    const cut = open(`redis://127.0.0.1:${proxy.port}`);
    await cut.connect();
    proxy.blackHole();
    await expect(cut.acquire(requestFor('k', { wait: false }))).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await hold(other, 'k');
  });
});

describe('a reply that is lost', () => {
  async function losing(proxy: FaultProxy, isDone: () => Promise<boolean>) {
    await expect.poll(isDone, { interval: 5 }).toBe(true);
    proxy.disconnect();
    proxy.heal();
  }

  it('of a grant: the request resolves, and holds once', async () => {
    const { proxy, one, other } = await setUp();
    proxy.blackHole('toClient');
    const asked = hold(one, 'k');
    await losing(proxy, async () => (await other.lineOf('k')).length === 1);
    const lease = await asked;
    expect(await other.lineOf('k')).toMatchObject([{ state: 'held' }]);
    await lease.release();
    expect(await other.lineOf('k')).toEqual([]);
  });

  it('of a grant without waiting: the request resolves, and holds once', async () => {
    const { proxy, one, other } = await setUp();
    proxy.blackHole('toClient');
    const asked = one.acquire(requestFor('k', { wait: false }));
    await losing(proxy, async () => (await other.lineOf('k')).length === 1);
    expect((await asked)?.isHeld()).toBe(true);
  });

  it('of a request that waits: it keeps its place, and is granted', async () => {
    const { proxy, one, other } = await setUp();
    const first = await hold(other, 'k');
    proxy.blackHole('toClient');
    const asked = hold(one, 'k');
    await losing(proxy, async () => (await other.lineOf('k')).length === 2);
    const last = hold(other, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(3);
    await first.release();
    const second = await asked;
    expect((await other.lineOf('k')).map(({ state }) => state)).toEqual(['held', 'waiting']);
    await second.release();
    await (await last).release();
    expect(await other.lineOf('k')).toEqual([]);
  });

  it('of a release: the key is free, once', async () => {
    const { proxy, one, other } = await setUp();
    const lease = await hold(one, 'k');
    proxy.blackHole('toClient');
    const released = lease.release();
    await losing(proxy, async () => (await other.lineOf('k')).length === 0);
    const next = await hold(other, 'k');
    await released;
    expect(await other.lineOf('k')).toMatchObject([{ state: 'held' }]);
    expect(next.isHeld()).toBe(true);
  });

  it('of a request that is aborted meanwhile: nothing is left behind', async () => {
    const { proxy, one, other } = await setUp();
    const leaving = new AbortController();
    proxy.blackHole('toClient');
    const asked = one.acquire(requestFor('k', { signal: leaving.signal }));
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(1);
    const reason = new Error('gave up');
    leaving.abort(reason);
    proxy.disconnect();
    proxy.heal();
    await expect(asked).rejects.toBe(reason);
    await expect.poll(async () => other.lineOf('k')).toEqual([]);
    await hold(other, 'k');
  });

  it('of a write of records: it is applied once', async () => {
    const { proxy, one, other } = await setUp();
    await other.records.write([{ name: 'n', value: '1' }]);
    proxy.blackHole('toClient');
    const written = one.records.write([{ name: 'n', value: '2', ifVersion: 0 }]);
    await losing(proxy, async () => (await other.records.read('n'))?.value === '2');
    expect(await written).toMatchObject({ isApplied: true, records: [{ value: '2', version: 1 }] });
    expect(await other.records.read('n')).toMatchObject({ version: 1 });
  });

  it('of a write that others have overwritten: the result is said to be unknown', async () => {
    const { proxy, one, other } = await setUp();
    proxy.blackHole('toClient');
    const written = one.records.write([{ name: 'n', value: '1' }]);
    const isDone = async () => (await other.records.read('n'))?.value === '1';
    await expect.poll(isDone, { interval: 5 }).toBe(true);
    const outcome = expect(written).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await other.records.write([{ name: 'n', value: '2' }]);
    proxy.disconnect();
    proxy.heal();
    await outcome;
    expect(await other.records.read('n')).toMatchObject({ value: '2' });
  });

  it('of items that are put: they are in the queue once', async () => {
    const { proxy, one, other } = await setUp();
    const { signal } = new AbortController();
    await other.coordination?.queues.put({ key: 'first use', payloads: [Buffer.from('a')], wait: false, signal });
    proxy.blackHole('toClient');
    const put = one.coordination?.queues.put({ key: 'q', payloads: [Buffer.from('a')], wait: false, signal });
    await losing(proxy, async () => (await other.coordination?.queues.size('q', signal)) === 1);
    expect(await put).toBe(true);
    expect(await other.coordination?.queues.size('q', signal)).toBe(1);
  });

  it('of items that are taken: they are delivered to the same taker', async () => {
    const { proxy, one, other } = await setUp();
    const { signal } = new AbortController();
    const queues = other.coordination?.queues;
    await queues?.put({ key: 'q', payloads: ['a', 'b'].map((text) => Buffer.from(text)), wait: false, signal });
    const [first] = (await queues?.take({ key: 'q', atMost: 1, wait: false, signal })) ?? [];
    await first?.ack();
    proxy.blackHole('toClient');
    const taking = one.coordination?.queues.take({ key: 'q', atMost: 1, wait: false, signal });
    await losing(proxy, async () => (await server.ask('KEYS', '*:takers:*')).includes('takers'));
    const [item] = (await taking) ?? [];
    await item?.ack();
    expect(await other.coordination?.queues.size('q', signal)).toBe(0);
  });
});

describe('messages that are lost', () => {
  it('delay a hand-over, but never stop it', async () => {
    const { one, other } = await setUp();
    for (let turn = 0; turn < 20; turn++) {
      const lease = await hold(other, 'k');
      const asked = hold(one, 'k');
      await expect.poll(async () => (await other.lineOf('k')).length, { interval: 2 }).toBe(2);
      await Promise.all([server.ask('CLIENT', 'KILL', 'TYPE', 'pubsub'), lease.release()]);
      await (await asked).release();
    }
    // A release whose connection was cut is finished on the next one.
    await expect.poll(() => other.lineOf('k')).toEqual([]);
  });
});

describe('a server that is paused', () => {
  it('for less than the session timeout: leases go on', async () => {
    const { one, other } = await setUp();
    const lease = await hold(one, 'k');
    await server.freeze();
    await expect.poll(() => one.state, { interval: 5 }).toBe('suspended');
    await server.thaw();
    await expect.poll(() => lease.state).toBe('held');
    expect(await other.acquire(requestFor('k', { wait: false }))).toBeNull();
  });

  it('for longer: leases are lost, and the key is granted again with a larger token', async () => {
    const { one, other } = await setUp();
    const lease = await hold(one, 'k');
    const lost = lossOf(lease);
    await server.freeze();
    await lost;
    expect(lease.isHeld()).toBe(false);
    await server.thaw();
    const next = await hold(other, 'k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });
});

describe('a process that is paused', () => {
  it('for longer than its session timeout: it knows at once that its lease is over', async () => {
    const { one, other } = await setUp();
    const lease = await hold(one, 'k');
    blockEventLoop(SESSION_MS + 100);
    expect(lease.isHeld()).toBe(false);
    const next = await hold(other, 'k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
    await hold(one, 'k');
  });
});

describe('a process that ends without a word', () => {
  it('keeps a key until the end of its session, and a waiting one is passed at once', async () => {
    const { proxy, one, other } = await setUp();
    await hold(one, 'k');
    const waiting = hold(one, 'k').catch(() => undefined);
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    const since = performance.now();
    const next = hold(other, 'k');
    proxy.blackHole();
    await next;
    expect(performance.now() - since).toBeLessThan(2 * SESSION_MS + 500);
    await one.close();
    await waiting;
  });
});
