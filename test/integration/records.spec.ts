import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { LockConfigurationError } from '../../lib/contract/errors.js';
import { UNCHANGED } from '../../lib/contract/record-store.js';
import type { RecordChange } from '../../lib/contract/record-store.js';
import { ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { put } from '../../lib/testing/backend-contract/put.js';
import { openReplyThief } from '../support/reply-thief.js';
import { openService } from '../support/services.js';
import type { ServiceOptions } from '../support/services.js';
import { twoProcesses } from '../support/two-processes.js';
import { openClient } from '../support/znodes.js';
import { connectionOf } from '../../lib/service/lock.service.js';

const connectString = inject('zookeeper');
const WRITE = OpCode.multi;
const GONE: RecordChange = { name: 'a', value: undefined };
const THEIRS: RecordChange = { name: 'a', value: 'theirs' };

/** One store whose replies can be stolen, and another one that is not affected, as in another process. */
async function behindThief(options: Partial<ServiceOptions> = {}) {
  const basePath = freshBasePath();
  const thief = await openReplyThief(connectString);
  const [victim, other] = await Promise.all([
    openService({ ...options, connectString: thief.connectString, basePath }),
    openService({ connectString, basePath }),
  ]);
  return { thief, victim: connectionOf(victim).backend.records, other: connectionOf(other).backend.records };
}

describe('records in ZooKeeper', () => {
  it('are persistent znodes outside all keys, with the leader’s time', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    onTestFinished(() => void vi.useRealTimers());

    const written = await put(connectionOf(one).backend.records, 'a/b', '1');

    const { stat } = await client.read(`${basePath}/%records/a/b`);
    expect(stat).toMatchObject({ ephemeralOwner: 0n, version: 0, mtime: BigInt(written.writtenAt.getTime()) });
    expect((await client.read(`${basePath}/%records/a`)).stat.ephemeralOwner).toBe(0n);
    expect(written.writtenAt.getFullYear()).toBeGreaterThan(2_000);
    expect(await connectionOf(other).backend.records.read('a/b')).toEqual(written);
    await other.using('%records/a/b', () => {});
    expect(await connectionOf(one).backend.records.list('a')).toEqual(['b']);
  });

  it('show under a lease everything that was written before its grant', async () => {
    const { one, other } = await twoProcesses(connectString);
    const add = async (service: typeof one) => {
      const { records } = connectionOf(service).backend;
      const before = Number((await records.read('n'))?.value ?? '0');
      await put(records, 'n', String(before + 1));
    };
    const turns = Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? one : other));
    await Promise.all(turns.map((service) => service.using('n', () => add(service))));
    expect((await connectionOf(one).backend.records.read('n'))?.value).toBe('20');
  });

  it('are stored below a chroot, and not in a name with a leading slash', async () => {
    const basePath = freshBasePath();
    const inChroot = await openService({ connectString: `${connectString}${basePath}`, basePath: '/locks' });
    await put(connectionOf(inChroot).backend.records, 'a', '1');
    const client = await openClient(connectString);
    expect((await client.read(`${basePath}/locks/%records/a`)).stat.version).toBe(0);
    await expect(connectionOf(inChroot).backend.records.read('/a')).rejects.toThrow(/must not begin with a slash/);
  });

  it('are hidden from services without access, with an error that explains it', async () => {
    const basePath = freshBasePath();
    const as = (credentials: string) =>
      openService({ connectString, basePath, auth: { scheme: 'digest', credentials } });
    const [shop, stranger] = await Promise.all([as('shop:secret'), as('stranger:guess')]);
    await put(connectionOf(shop).backend.records, 'till', '1');
    const refusals = [
      connectionOf(stranger).backend.records.read('till'),
      connectionOf(stranger).backend.records.list('till'),
      put(connectionOf(stranger).backend.records, 'till', '2'),
    ];
    for (const refused of refusals) {
      await expect(refused).rejects.toThrow(LockConfigurationError);
      await expect(refused).rejects.toThrow(/"till".*noAuth.*check the auth and acl options/);
    }
  });
});

describe('a write whose reply was lost', () => {
  it.each([
    ['makes a record, and was applied', 'absent', true],
    ['makes a record, and was not', 'absent', false],
    ['changes a record, and was applied', 0, true],
    ['changes a record, and was not', 0, false],
    ['asks for nothing, and was applied', undefined, true],
    ['asks for nothing, and was not', undefined, false],
  ] as const)('%s: happens once', async (_what, ifVersion, isApplied) => {
    const { thief, victim } = await behindThief();
    await put(victim, 'above', '0');
    if (ifVersion !== 'absent') await put(victim, 'a', 'before');
    const cut = isApplied ? thief.stealNext(WRITE) : thief.cutBefore(WRITE);

    const write = await victim.write([{ name: 'a', value: 'after', ...(ifVersion !== undefined && { ifVersion }) }]);

    await cut;
    const version = ifVersion === 'absent' ? 0 : 1;
    expect(write).toMatchObject({ isApplied: true, records: [{ name: 'a', value: 'after', version }] });
    expect(write).toEqual({ isApplied: true, records: [await victim.read('a')] });
  });

  it('is not confused with another client’s equal write from the same version', async () => {
    const { thief, victim, other } = await behindThief();
    await put(victim, 'left', '7');
    thief.isOpen = false;
    const cut = thief.cutBefore(WRITE);
    const writing = victim.write([{ name: 'left', value: '6', ifVersion: 0 }]);
    await cut;
    await other.write([{ name: 'left', value: '6', ifVersion: 0 }]);
    thief.isOpen = true;
    expect(await writing).toEqual({ isApplied: false, conflict: 'left' });
  });

  it('is recognized as applied by its remaining effects', async () => {
    const { thief, victim, other } = await behindThief();
    await put(victim, 'left', '7');
    await put(victim, 'above/all', '');
    thief.isOpen = false;
    const cut = thief.stealNext(WRITE);
    const writing = victim.write([
      { name: 'left', value: '6', ifVersion: 0 },
      { name: 'above/order', value: '1', ifVersion: 'absent' },
    ]);
    await cut;
    await put(other, 'left', '5');
    thief.isOpen = true;
    const order = await other.read('above/order');
    expect(await writing).toEqual({
      isApplied: true,
      records: [{ name: 'left', value: '6', version: 1, writtenAt: order?.writtenAt }, order],
    });
  });

  it('rejects with an unknown outcome when no effect remains', async () => {
    const { thief, victim, other } = await behindThief();
    await put(victim, 'left', '7');
    thief.isOpen = false;
    const cut = thief.stealNext(WRITE);
    const refused = expect(victim.write([{ name: 'left', value: '6', ifVersion: 0 }])).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('whether "left" was written cannot be known'),
    });
    await cut;
    await put(other, 'left', '5');
    thief.isOpen = true;
    await refused;
  });

  it.each<readonly [string, RecordChange, readonly RecordChange[]]>([
    ['makes a record, which is removed', { name: 'a', value: 'mine', ifVersion: 'absent' }, [GONE]],
    ['makes a record, which is made anew', { name: 'a', value: 'mine', ifVersion: 'absent' }, [GONE, THEIRS]],
    ['changes a record, which is made anew', { name: 'a', value: 'mine', ifVersion: 0 }, [GONE, THEIRS]],
    ['removes a record, which is made anew', { name: 'a', value: undefined, ifVersion: 0 }, [THEIRS]],
  ])('%s meanwhile: rejects with an unknown outcome, and writes nothing twice', async (_, change, meanwhile) => {
    const { thief, victim, other } = await behindThief();
    await put(victim, 'beside', '0');
    if (change.ifVersion !== 'absent') await put(victim, 'a', 'before');
    thief.isOpen = false;
    const cut = thief.stealNext(WRITE);
    const refused = expect(victim.write([change])).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringContaining('whether "a" was written cannot be known'),
    });
    await cut;
    for (const one of meanwhile) await other.write([one]);
    const left = await other.read('a');
    thief.isOpen = true;
    await refused;
    expect(await other.read('a')).toEqual(left);
  });

  it('is repeated when it is only a condition', async () => {
    const { thief, victim } = await behindThief();
    await put(victim, 'a', '1');
    const cut = thief.stealNext(WRITE);
    expect(await victim.write([{ name: 'a', value: UNCHANGED, ifVersion: 0 }])).toEqual({
      isApplied: true,
      records: [],
    });
    await cut;
  });

  it('is resolved by the next session', async () => {
    const basePath = freshBasePath();
    const proxy = await ZooKeeperFaultProxy.open(connectString);
    onTestFinished(() => proxy.close());
    const unlucky = await openService({ connectString: proxy.connectString, basePath });
    const { records } = connectionOf(await openService({ connectString, basePath })).backend;
    const { signal } = await unlucky.acquire('k');
    await put(connectionOf(unlucky).backend.records, 'a', 'before');
    proxy.blackHole('toClient');
    const writing = connectionOf(unlucky).backend.records.write([{ name: 'a', value: 'after', ifVersion: 0 }]);
    await eventually(async () => (await records.read('a'))?.value === 'after' || undefined, 'the write is applied');

    await proxy.expireSessions();
    proxy.disconnect();
    proxy.heal();

    expect(await writing).toEqual({ isApplied: true, records: [await records.read('a')] });
    expect(signal.aborted).toBe(true);
  });

  it('rejects with an unknown outcome when the servers stay unreachable', async () => {
    const { thief, victim } = await behindThief({ connectTimeoutMs: 2_000 });
    await put(victim, 'a', '1');
    thief.isOpen = false;
    const cut = thief.stealNext(WRITE);
    const refused = expect(put(victim, 'a', '2')).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/no ZooKeeper server answered.*whether "a" was written is not known/),
    });
    await cut;
    await refused;
    await expect(victim.read('a')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  });
});
