import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { fencingTokenOf } from '../../lib/contract/granted-lease.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openReplyThief } from '../support/reply-thief.js';
import { openService } from '../support/services.js';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const KEYS = ['account/a', 'account/b', 'account/c'];
const ATOMIC = { atomic: true };

describe('an atomic multi-lock', () => {
  it('creates its contenders and parents in one transaction, with one token', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    const set = await one.multi(KEYS, ATOMIC).acquire();
    const nodes = await Promise.all(
      KEYS.map(async (key) => {
        const [name = '', ...others] = await contendersAt(client, `${basePath}/${key}`);
        expect(others).toEqual([]);
        return (await client.read(`${basePath}/${key}/${name}`)).stat.czxid;
      }),
    );
    const { stat } = await client.read(`${basePath}/account`);
    expect(new Set([...nodes, stat.czxid]).size).toBe(1);
    expect(set.leases.map(({ fencingToken }) => fencingToken)).toEqual(nodes.map(fencingTokenOf));
    expect(set.fencingToken).toBe(fencingTokenOf(nodes[0]!));
    await set.release();
    for (const key of KEYS) expect(await contendersAt(client, `${basePath}/${key}`)).toEqual([]);
  });

  it('excludes locks on a single one of its keys, and other sets', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const single = await other.acquire('account/b');
    const waiting = one.multi(KEYS, ATOMIC).acquire();
    await untilContenders(client, `${basePath}/account/a`, 1);
    expect(await other.multi(['account/c', 'account/d'], ATOMIC).tryAcquire()).toBeNull();
    expect(await other.tryAcquire('account/a')).toBeNull();
    await single.release();
    const set = await waiting;
    for (const key of KEYS) expect(await other.tryAcquire(key)).toBeNull();
    await set.release();
    const next = await other.multi(KEYS.toReversed()).acquire();
    expect(next.leases.every((lease, place) => lease.fencingToken > set.leases[place]!.fencingToken)).toBe(true);
    await next.release();
  });

  it('leaves no contender when it gives up', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const single = await other.acquire('account/b');
    const both = one.multi(KEYS, ATOMIC);
    await expect(both.acquire({ waitMs: 50 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitMs: 50 });
    expect(await both.tryAcquire()).toBeNull();
    const counts = await Promise.all(
      KEYS.map(async (key) => (await contendersAt(client, `${basePath}/${key}`)).length),
    );
    expect(counts).toEqual([0, 1, 0]);
    await single.release();
  });

  it.each([
    ['applied', 'stealNext', 'warm'],
    ['applied with the parents', 'stealNext', 'cold'],
    ['not applied', 'cutBefore', 'warm'],
  ] as const)('is found again or made once more after a lost reply, never twice: %s', async (_, cutAt, state) => {
    const basePath = freshBasePath();
    const thief = await openReplyThief(connectString);
    const service = await openService({ connectString: thief.connectString, basePath, parents: 'persistent' });
    const client = await openClient(connectString);
    if (state === 'warm') await service.multi(KEYS, ATOMIC).using(() => {});
    const cut = thief[cutAt](OpCode.multi);
    const set = await service.multi(KEYS, ATOMIC).acquire();
    await cut;
    expect(set.isHeld()).toBe(true);
    for (const key of KEYS) expect(await contendersAt(client, `${basePath}/${key}`)).toHaveLength(1);
    await set.release();
    for (const key of KEYS) expect(await untilContenders(client, `${basePath}/${key}`, 0)).toEqual([]);
  });

  it('recreates parents that the servers have removed meanwhile', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    await one.multi(KEYS, ATOMIC).using(() => {});
    await client.delete(`${basePath}/account/b`);
    await one.multi(KEYS, ATOMIC).using((set) => expect(set.isHeld()).toBe(true));
  });

  it('is queued again on all keys when its waiting contender on one is deleted', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const single = await other.acquire('account/b');
    const waiting = one.multi(KEYS, ATOMIC).acquire();
    const [, name = ''] = await untilContenders(client, `${basePath}/account/b`, 2);
    const [before] = await untilContenders(client, `${basePath}/account/a`, 1);
    await client.delete(`${basePath}/account/b/${name}`);
    await single.release();
    const set = await waiting;
    const [after] = await contendersAt(client, `${basePath}/account/a`);
    expect(after).not.toBe(before);
    expect(set.isHeld()).toBe(true);
    await set.release();
  });

  it('is queued again when it loses a key before it has the others', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const single = await other.acquire('account/b');
    const waiting = one.multi(KEYS, ATOMIC).acquire();
    await untilContenders(client, `${basePath}/account/b`, 2);
    const [before = ''] = await untilContenders(client, `${basePath}/account/a`, 1);
    await client.delete(`${basePath}/account/a/${before}`);
    await eventually(async () => {
      const [now] = await contendersAt(client, `${basePath}/account/a`);
      return now !== undefined && now !== before ? true : undefined;
    }, 'another contender');
    await single.release();
    const set = await waiting;
    expect([set.state, set.isHeld()]).toEqual(['held', true]);
    await set.release();
    for (const key of KEYS) expect(await untilContenders(client, `${basePath}/${key}`, 0)).toEqual([]);
  });

  it('releases a revoked key that it holds before it has the others', async () => {
    const { one, other } = await twoProcesses(connectString);
    const single = await other.acquire('account/b');
    const waiting = one.multi(KEYS, ATOMIC).acquire();
    await expect.poll(async () => (await one.contenders('account/a')).length).toBe(1);
    const next = other.acquire('account/a');
    await other.revoke('account/a', { graceMs: 60_000 });
    await (await next).release();
    await single.release();
    const set = await waiting;
    expect([set.state, set.signal.aborted]).toEqual(['held', false]);
  });

  it('is refused without a connection loss when it exceeds the servers’ request size', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    await using lease = await one.acquire('another');
    const suspended = vi.fn<() => void>();
    const looking = setInterval(() => lease.state === 'suspended' && suspended(), 1);
    onTestFinished(() => clearInterval(looking));
    const keys = Array.from({ length: 1_000 }, (_, n) => `${'x'.repeat(900)}/${n}`);
    await expect(one.multi(keys, ATOMIC).acquire({ waitMs: 2_000 })).rejects.toMatchObject({
      code: 'LOCK_CONFIGURATION',
      message: expect.stringContaining('servers take 1048575') as string,
    });
    const pool = one.semaphore('y'.repeat(900), { permits: 1_000 });
    await expect(pool.acquire({ permits: 1_000, waitMs: 2_000 })).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect(suspended).not.toHaveBeenCalled();
    expect(await untilContenders(client, `${basePath}/${'y'.repeat(900)}/locks`, 0)).toEqual([]);
  });

  it('never deadlocks, whatever the order of the keys', async () => {
    const { one, other } = await twoProcesses(connectString);
    let inside = 0;
    const rounds = Array.from({ length: 60 }, (_, round) => {
      const keys = round % 3 === 0 ? KEYS : round % 3 === 1 ? KEYS.toReversed() : [KEYS[1]!, KEYS[0]!];
      return (round % 2 === 0 ? one : other).multi(keys, ATOMIC).using(async () => {
        expect(++inside).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
      });
    });
    await Promise.all(rounds);
  });
});
