import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { UNCHANGED } from '../../lib/contract/record-store.js';
import type { RecordChange } from '../../lib/contract/record-store.js';
import { EtcdSession } from '../../lib/etcd/session/etcd-session.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import { clientsOf, keysBelow, revoke } from './support/clients.js';

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
