import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { fencingTokenOf } from '../../lib/contract/granted-lease.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';
import { clientsOf, hold, keysBelow, lossOf, read, requestFor, revoke, write } from './support/clients.js';
import { compileGo, startGo } from './support/go.js';
import type { Round } from './support/go.js';

let server: EtcdServer;

beforeAll(async () => {
  [server] = await Promise.all([EtcdServer.start(), compileGo()]);
}, 300_000);
afterAll(() => server.stop());

/** Longer than the stalls of a busy machine. */
const SESSION_MS = 12_000;

/** Opens clients that share their absolute keys with Go, sessions of Go, and a prefix that no other test uses. */
function setUp() {
  const { basePath, open } = clientsOf({ wire: 'go', sessionTimeoutMs: SESSION_MS });
  return { basePath, open: () => open(server.host), openGo: startGo(server), key: `/${randomUUID()}` };
}

/** Resolves when so many entries are in the wait queue of a key. */
async function queued(key: string, count: number): Promise<void> {
  await eventually(async () => (await keysBelow(server, `${key}/`)).length === count, `${count} entries of ${key}`);
}

/** The same task as that of Go's `rounds`. */
async function rounds(client: LockBackend, key: string, counter: string, count: number): Promise<readonly Round[]> {
  const all: Round[] = [];
  while (all.length < count) {
    const lease = await hold(client, key);
    const found = Number((await read(server, counter)) ?? 0);
    await write(server, counter, String(found + 1));
    all.push({ count: found, revision: Number(lease.fencingToken >> 16n) });
    await lease.release();
  }
  return all;
}

/** The faults of rounds: numbers that two holders have counted, and holders that did not come in their order. */
function faultsOf(all: readonly Round[]): { readonly twice: number; readonly outOfOrder: number } {
  const inTurn = all.toSorted((one, other) => one.count - other.count);
  const outOfOrder = inTurn.filter(({ revision }, place) => revision <= (inTurn[place - 1]?.revision ?? 0));
  return { twice: all.length - new Set(all.map(({ count }) => count)).size, outOfOrder: outOfOrder.length };
}

describe("a lock that is shared with Go's concurrency package", () => {
  it('has one holder at a time under contention, in the order of arrival', async () => {
    const { open, openGo, key } = setUp();
    const counter = `counter${key}`;
    const sessions = await Promise.all([openGo(), openGo()]);
    const all = await Promise.all([
      ...sessions.map((session) => session.rounds(key, counter, 25)),
      ...[open(), open()].map((client) => rounds(client, key, counter, 25)),
    ]);
    expect(all.flat()).toHaveLength(100);
    expect(faultsOf(all.flat())).toEqual({ twice: 0, outOfOrder: 0 });
    expect(await keysBelow(server, `${key}/`)).toEqual([]);
  });

  it('would be found to have two holders, and an order that is not that of arrival', () => {
    const counted = (count: number, revision: number) => ({ count, revision });
    expect(faultsOf([counted(0, 5), counted(1, 7), counted(1, 9)])).toEqual({ twice: 1, outOfOrder: 0 });
    expect(faultsOf([counted(0, 5), counted(2, 7), counted(1, 9)])).toEqual({ twice: 0, outOfOrder: 1 });
  });

  it.each(['', '/'])('is handed over in both directions, with "%s" at the end of the prefix', async (end) => {
    const { open, openGo, key } = setUp();
    const [client, go] = [open(), await openGo()];
    const prefix = `${key}${end}`;
    const first = await hold(client, key);
    const second = go.lock(prefix);
    await queued(key, 2);
    const third = hold(client, key);
    await queued(key, 3);
    expect(await client.acquire(requestFor(key, { wait: false }))).toBeNull();
    await first.release();
    // The create revision tells Go's holders apart, and is what our tokens begin with.
    const revision = await second;
    expect(fencingTokenOf(BigInt(revision))).toBeGreaterThan(first.fencingToken);
    expect(await go.owns(prefix)).toBe(true);
    expect(await keysBelow(server, `${key}/`)).toHaveLength(2);
    await go.unlock(prefix);
    const lease = await third;
    expect(lease.fencingToken).toBeGreaterThan(fencingTokenOf(BigInt(revision)));
    await lease.release();
    await go.lock(prefix);
    expect(await client.acquire(requestFor(key, { wait: false }))).toBeNull();
    expect(await keysBelow(server, `${key}/`)).toHaveLength(1);
  });

  it('goes to the next one when the lease of its holder is revoked, in both directions', async () => {
    const { open, openGo, key } = setUp();
    // Go's client notices it when it renews the lease, after a third of its time.
    const [client, go] = [open(), await openGo(6)];
    await go.lock(key);
    const next = hold(client, key);
    await queued(key, 2);
    await revoke(server, go.lease);
    const lease = await next;
    await go.done();
    const lost = lossOf(lease);
    const other = await openGo();
    const last = other.lock(key);
    await queued(key, 2);
    await revoke(server, client.vitals?.().sessionId ?? '');
    await lost;
    expect(lease.isHeld()).toBe(false);
    expect(fencingTokenOf(BigInt(await last))).toBeGreaterThan(lease.fencingToken);
  });

  it('is shared by readers, and not with Go', async () => {
    const { open, openGo, key } = setUp();
    const [client, go] = [open(), await openGo()];
    const readers = await Promise.all([1, 2].map(() => hold(client, key, { mode: 'read' })));
    const locked = go.lock(key);
    await queued(key, 3);
    const behind = hold(client, key, { mode: 'read' });
    await queued(key, 4);
    await readers[0]?.release();
    expect(await keysBelow(server, `${key}/`)).toHaveLength(3);
    await readers[1]?.release();
    await locked;
    expect(await client.acquire(requestFor(key, { mode: 'read', wait: false }))).toBeNull();
    await go.unlock(key);
    await (await behind).release();
  });

  it("is taken away from Go's holder by force, and its contenders are listed", async () => {
    const { open, openGo, key } = setUp();
    const [client, go] = [open(), await openGo()];
    await go.lock(key);
    const next = hold(client, key);
    await queued(key, 2);
    const [holder, waiter] = await client.lineOf!(key);
    expect(holder).toMatchObject({ state: 'held', mode: 'exclusive', owner: {}, isOwn: false, since: new Date(NaN) });
    expect(waiter).toMatchObject({ state: 'waiting', isOwn: true });
    await client.revoke!(key, { graceMs: 1, signal: undefined });
    await next;
    expect(await go.owns(key)).toBe(false);
  });

  it('leaves the locks below its prefix alone', async () => {
    const { open, openGo, key } = setUp();
    const [client, go] = [open(), await openGo()];
    await go.lock(`${key}/below`);
    await hold(client, `${key}/below-ours`);
    const lease = await client.acquire(requestFor(key, { wait: false }));
    expect(lease?.isHeld()).toBe(true);
    const behind = hold(client, key);
    await go.unlock(`${key}/below`);
    await lease?.release();
    await behind;
  });

  it('needs no option for a prefix below the base path', async () => {
    const { basePath, open } = clientsOf();
    const [client, go] = [open(server.host), await startGo(server)()];
    const prefix = `${basePath}/lock/orders/42/`;
    await go.lock(prefix);
    expect(await client.acquire(requestFor('orders/42', { wait: false }))).toBeNull();
    const next = hold(client, 'orders/42');
    await queued(prefix, 2);
    await go.unlock(prefix);
    await next;
  });
});

describe("an election that is shared with Go's concurrency package", () => {
  it('is won, proclaimed, observed and resigned by both', async () => {
    const { open, openGo, key } = setUp();
    const client = open();
    const elections = client.elections!;
    const [go, observer] = await Promise.all([openGo(), openGo()]);
    const { signal } = new AbortController();
    const look = () => elections.look(key, signal);
    const observed = observer.observe(key, 'ours 2');
    expect((await look()).leader).toBeNull();

    await go.campaign(key, '{"mode":"read"}');
    const first = await look();
    expect(first.leader).toMatchObject({ id: go.lease, owner: {}, value: '{"mode":"read"}', isOwn: false });
    expect(await elections.campaign(requestFor(key, { wait: false }))).toBeNull();
    const won = elections.campaign({ ...requestFor(key), value: 'ours 1' });
    await queued(key, 2);
    await go.proclaim(key, 'go 2');
    await first.changed(signal);
    await eventually(async () => (await look()).leader?.value === 'go 2', "Go's second value");
    await go.resign(key);

    const term = await won;
    const again = go.campaign(key, 'go 3');
    expect((await look()).leader).toMatchObject({
      value: 'ours 1',
      isOwn: true,
      fencingToken: term?.lease.fencingToken,
    });
    await term?.proclaim('ours 2');
    expect((await look()).leader?.value).toBe('ours 2');
    const values = await observed;
    // An observer sees the last value, and not each one before it.
    expect(values.at(-1)).toBe('ours 2');
    expect(['{"mode":"read"}', 'go 2', 'ours 1', 'ours 2']).toEqual(expect.arrayContaining([...values]));
    await term?.lease.release();
    await again;
    expect((await look()).leader?.value).toBe('go 3');
  });
});

describe('a key that begins with a slash', () => {
  const refused = (message: string) => ({ code: 'LOCK_CONFIGURATION', message: expect.stringContaining(message) });
  const open = (changes: Parameters<typeof clientsOf>[0]) => clientsOf(changes).open(server.host);

  it('is refused without the option', async () => {
    await expect(open({}).acquire(requestFor('/k'))).rejects.toMatchObject(refused("wire: 'go'"));
  });

  it('is refused for what Go does not have, and at the base path', async () => {
    const client = open({ wire: 'go', basePath: '/shop/locks' });
    onTestFinished(() => client.close());
    const permits = { count: 1, of: { permits: 2 } };
    const asked = client.acquire(requestFor('/k', { mode: 'permit', permits }));
    await expect(asked).rejects.toMatchObject(refused('only locks and elections'));
    const { signal } = new AbortController();
    const { queues, barriers, cells } = client.coordination!;
    const calls = [
      () => queues.put({ key: '/k', payloads: [Buffer.from('item')], wait: false, signal }),
      () => queues.take({ key: '/k', atMost: 1, wait: false, signal }),
      () => barriers.raise('/k', signal),
      () => barriers.enter({ key: '/k', count: 1, signal }),
      () => cells.read('/k', signal),
      () => client.permitCounts!.read('/k', { permits: 2 }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(refused('only locks and elections'));
    for (const key of ['/shop', '/shop/locks', '/shop/locks/lock/k']) {
      await expect(client.acquire(requestFor(key))).rejects.toMatchObject(refused('base path'));
    }
    expect((await hold(client, '/shop/lock')).isHeld()).toBe(true);
  });
});
