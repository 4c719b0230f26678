import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { UNCHANGED } from '../../lib/contract/record-store.js';
import type { RecordChange } from '../../lib/contract/record-store.js';
import { RefusedError } from '../../lib/etcd/client/etcd-error.js';
import { EtcdLink } from '../../lib/etcd/client/etcd-link.js';
import { EtcdSession } from '../../lib/etcd/session/etcd-session.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { clientsOf, keysBelow, requestFor, revoke } from './support/clients.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

async function setUp() {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const { open, basePath } = clientsOf({ sessionTimeoutMs: 20_000 });
  const [one, other] = [open(proxy.connectString), open(server.host)];
  await Promise.all([one.connect(), other.connect()]);
  const session = one.vitals?.().sessionId ?? '';
  return { proxy, one, other, session, sessions: () => keysBelow(server, `${basePath}/session/`) };
}

/** Lets the next change that is sent get no answer, or not arrive. Resolves when bytes are held back. */
async function loseNext(proxy: FaultProxy, lost: 'toClient' | 'toServer'): Promise<void> {
  const { change } = EtcdSession.prototype;
  await new Promise<void>((resolve) => {
    const spy = vi.spyOn(EtcdSession.prototype, 'change').mockImplementationOnce(function (this: EtcdSession, ...args) {
      proxy.blackHole(lost);
      resolve();
      return change.apply(this, args);
    });
    onTestFinished(() => spy.mockRestore());
  });
  await expect.poll(() => proxy.isQuiet, { interval: 5 }).toBe(false);
}

const name = 'n';
const APPLIED = { isApplied: true };
const WRITTEN = [expect.objectContaining({ name, value: '1', version: 0 })];
const CHANGED = [expect.objectContaining({ name, value: '1', version: 2 })];
const UNKNOWN = 'whether the write was applied is not known';
const THEIRS: RecordChange = { name, value: 'theirs' };
const GONE: RecordChange = { name, value: undefined };

/** The outcome of a write: its result, or the message of its error. */
function outcomeOf(writing: Promise<unknown>): Promise<unknown> {
  return writing.catch((error: Error & { code?: string }) =>
    error.code === 'LOCK_UNAVAILABLE' ? error.message : error,
  );
}

const expected = (outcome: string | object): unknown =>
  typeof outcome === 'string' ? expect.stringContaining(outcome) : expect.objectContaining(outcome);

describe('a write whose answer is lost', () => {
  const make = { name, value: '1', ifVersion: 'absent' } as const;
  it.each<readonly [string, RecordChange, readonly RecordChange[], string | object]>([
    ['makes a record, which others leave', make, [], { ...APPLIED, records: WRITTEN }],
    ['makes a record, which others change', make, [THEIRS], { ...APPLIED, records: WRITTEN }],
    ['makes a record, which others remove', make, [GONE], { ...APPLIED, records: WRITTEN }],
    ['makes a record, which others make anew', make, [GONE, THEIRS], APPLIED],
    ['asks for nothing', { name, value: '1' }, [GONE], APPLIED],
    ['changes a record, which others leave', { name, value: '1', ifVersion: 1 }, [], { records: CHANGED }],
    ['changes a record, which others make anew', { name, value: '1', ifVersion: 1 }, [GONE, THEIRS, THEIRS], UNKNOWN],
    ['removes a record', { name, value: undefined, ifVersion: 1 }, [], { ...APPLIED, records: [] }],
    ['removes a record without a condition', GONE, [], { ...APPLIED, records: [] }],
    ['removes a record, which others make anew', { name, value: undefined, ifVersion: 1 }, [THEIRS], APPLIED],
  ])('%s: is applied once', async (_, change, meanwhile, outcome) => {
    const { proxy, one, other, session, sessions } = await setUp();
    if (change.ifVersion === 1 || change === GONE)
      for (const value of ['a', 'b']) await other.records.write([{ name, value }]);
    const before = await other.records.read(name);
    const sent = loseNext(proxy, 'toClient');
    const writing = outcomeOf(one.records.write([change]));
    await sent;
    await expect.poll(() => other.records.read(name), { interval: 5 }).not.toEqual(before);
    for (const theirs of meanwhile) await other.records.write([theirs]);
    const left = await other.records.read(name);
    proxy.disconnect();
    proxy.heal();
    expect(await writing).toEqual(expected(outcome));
    expect(await other.records.read(name)).toEqual(left);
    // The marks of the write are gone.
    await expect.poll(async () => (await sessions()).filter((key) => key.includes(session))).toHaveLength(1);
  });

  it.each<readonly [string, RecordChange, readonly RecordChange[], string | object]>([
    ['makes a record', make, [], { ...APPLIED, records: WRITTEN }],
    ['makes a record, which others make', make, [THEIRS], { isApplied: false, conflict: name }],
    ['changes a record', { name, value: '1', ifVersion: 1 }, [], { ...APPLIED, records: CHANGED }],
    ['removes a record', { name, value: undefined, ifVersion: 1 }, [], { ...APPLIED, records: [] }],
    ['changes a record, which others change', { name, value: '1', ifVersion: 1 }, [THEIRS], UNKNOWN],
    ['is only a condition', { name, value: UNCHANGED, ifVersion: 1 }, [THEIRS], { isApplied: false, conflict: name }],
  ])('%s, and never arrived: is made, or is known not to be', async (_, change, meanwhile, outcome) => {
    const { proxy, one, other } = await setUp();
    if (change.ifVersion === 1) for (const value of ['a', 'b']) await other.records.write([{ name, value }]);
    const sent = loseNext(proxy, 'toServer');
    const writing = outcomeOf(one.records.write([change]));
    await sent;
    for (const theirs of meanwhile) await other.records.write([theirs]);
    const left = meanwhile.length > 0 ? await other.records.read(name) : undefined;
    proxy.disconnect();
    proxy.heal();
    expect(await writing).toEqual(expected(outcome));
    if (left) expect(await other.records.read(name)).toEqual(left);
  });

  it('says after the end of the session that the result is not known, and writes nothing', async () => {
    const { proxy, one, other, session } = await setUp();
    const sent = loseNext(proxy, 'toClient');
    const writing = outcomeOf(one.records.write([make]));
    await sent;
    await expect.poll(() => other.records.read(name), { interval: 5 }).toBeDefined();
    await other.records.write([GONE]);
    await revoke(server, session);
    proxy.disconnect();
    proxy.heal();
    expect(await writing).toContain(UNKNOWN);
    expect(await other.records.read(name)).toBeUndefined();
  });

  it('of a value, which others make anew, is applied once', async () => {
    const { proxy, one, other } = await setUp();
    const { signal } = new AbortController();
    const [mine, others] = [one.coordination!.cells, other.coordination!.cells];
    const sent = loseNext(proxy, 'toClient');
    const writing = mine.write('v', { data: Buffer.from('mine'), ifVersion: 'absent' }, signal);
    await sent;
    await expect.poll(() => others.read('v', signal), { interval: 5 }).toBeDefined();
    await others.write('v', { data: undefined }, signal);
    proxy.disconnect();
    proxy.heal();
    expect(await writing).toEqual({ isApplied: true, version: 0 });
    expect(await others.read('v', signal)).toBeUndefined();
  });
});

const { txn } = EtcdLink.prototype;

/** Lets the server refuse the next request that puts something, as one whose database is full. */
function refuseNext(when: 'before it is applied' | 'after it was applied'): void {
  let isDone = false;
  const spy = vi.spyOn(EtcdLink.prototype, 'txn').mockImplementation(async function (this: EtcdLink, asked) {
    const isPut = JSON.stringify(asked.success, (_, value: unknown) => (typeof value === 'bigint' ? 0 : value));
    if (isDone || !isPut.includes('"put"')) return txn.call(this, asked);
    isDone = true;
    if (when === 'after it was applied') await txn.call(this, asked);
    throw new RefusedError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded');
  });
  onTestFinished(() => spy.mockRestore());
}

describe('a write that is refused because the database is full', () => {
  const FULL = 'database space exceeded';
  it.each<readonly [string, RecordChange, object]>([
    ['makes a record', { name, value: '1', ifVersion: 'absent' }, { ...APPLIED, records: WRITTEN }],
    ['changes a record', { name, value: '1', ifVersion: 1 }, { ...APPLIED, records: CHANGED }],
    ['removes a record', { name, value: undefined, ifVersion: 1 }, { ...APPLIED, records: [] }],
  ])('%s: is reported as it is', async (_, change, outcome) => {
    const { one } = await setUp();
    if (change.ifVersion === 1) for (const value of ['a', 'b']) await one.records.write([{ name, value }]);
    const before = await one.records.read(name);
    refuseNext('before it is applied');
    expect(await outcomeOf(one.records.write([change]))).toEqual(expected(FULL));
    expect(await one.records.read(name)).toEqual(before);
    refuseNext('after it was applied');
    expect(await outcomeOf(one.records.write([change]))).toEqual(expected(outcome));
  });

  it('is no conflict when it shares the request with others', async () => {
    const { one } = await setUp();
    await one.records.write([{ name: 'old', value: 'a' }]);
    const cells = one.coordination!.cells;
    const { signal } = new AbortController();
    refuseNext('after it was applied');
    const writes = [
      one.records.write([{ name, value: '1', ifVersion: 'absent' }]),
      one.records.write([{ name: 'old', value: undefined, ifVersion: 0 }]),
      cells.write('v', { data: Buffer.from('mine'), ifVersion: 'absent' }, signal),
    ];
    expect(await Promise.all(writes)).toMatchObject([APPLIED, APPLIED, APPLIED]);
    expect(await one.records.readAll([name, 'old'])).toMatchObject([{ value: '1', version: 0 }, undefined]);
  });

  it('that others have changed meanwhile is an error that says that the result is not known', async () => {
    const { one, other } = await setUp();
    await one.records.write([{ name, value: 'a' }]);
    refuseNext('after it was applied');
    const { change } = EtcdSession.prototype;
    const spy = vi.spyOn(EtcdSession.prototype, 'change').mockImplementationOnce(async function (
      this: EtcdSession,
      ...args
    ) {
      try {
        return await change.apply(this, args);
      } finally {
        await other.records.write([THEIRS]);
      }
    });
    onTestFinished(() => spy.mockRestore());
    const outcome = await outcomeOf(one.records.write([{ name, value: '1', ifVersion: 0 }]));
    expect(outcome).toEqual(expected(UNKNOWN));
    expect(outcome).toEqual(expected(FULL));
  });

  it('with which an item of a queue was acknowledged leaves it acknowledged', async () => {
    const { one } = await setUp();
    const { queues } = one.coordination!;
    const { signal } = new AbortController();
    await queues.put({ key: 'q', payloads: [Buffer.from('item')], wait: false, signal });
    const [item] = await queues.take({ key: 'q', atMost: 1, wait: false, signal });
    refuseNext('after it was applied');
    const [acknowledged, acquired] = await Promise.allSettled([item!.ack(), one.acquire(requestFor('k'))]);
    expect(acknowledged).toEqual({ status: 'fulfilled', value: undefined });
    expect(acquired).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringContaining(FULL) as unknown },
    });
    expect(await queues.size('q', signal)).toBe(0);
  });

  it('of items of a queue puts them once', async () => {
    const { one } = await setUp();
    const { queues } = one.coordination!;
    const { signal } = new AbortController();
    const put = { key: 'q', payloads: [Buffer.from('item')], wait: false, signal };
    refuseNext('before it is applied');
    expect(await outcomeOf(queues.put(put))).toEqual(expected(FULL));
    expect(await queues.size('q', signal)).toBe(0);
    refuseNext('after it was applied');
    expect(await outcomeOf(queues.put(put))).toBe(true);
    expect(await queues.size('q', signal)).toBe(1);
  });
});

describe('a write whose answer is lost with servers that come back after the end of the session', () => {
  it.each<readonly ['toClient' | 'toServer']>([['toClient'], ['toServer']])('is found out: lost %s', async (lost) => {
    const own = await EtcdServer.start();
    onTestFinished(() => own.stop());
    const proxy = await FaultProxy.open(own.port);
    onTestFinished(() => proxy.close());
    const client = clientsOf().open(proxy.connectString);
    await client.connect();
    const former = client.vitals?.().sessionId;
    // The servers end a lease that was revoked with all that belongs to it.
    const spy = vi.spyOn(EtcdLink.prototype, 'revoke').mockRejectedValue(new Error('lost'));
    onTestFinished(() => spy.mockRestore());
    const sent = loseNext(proxy, lost);
    const writing = outcomeOf(client.records.write([{ name, value: '1', ifVersion: 'absent' }]));
    await sent;
    await own.kill();
    proxy.disconnect();
    await expect.poll(() => client.vitals?.().marginMs).toBe(0);
    // A server that comes back gives every lease its full time again.
    await own.restart();
    proxy.heal();
    expect(await writing).toEqual(expected({ ...APPLIED, records: WRITTEN }));
    expect(client.vitals?.().sessionId).not.toBe(former);
  });
});
