import { describe, expect, inject, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { Lease } from '../../lib/contract/lease.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { CreateMode } from '../../lib/zookeeper/session/requests.js';
import { eventually } from '../support/eventually.js';
import { lost } from '../support/lost.js';
import { closeService, openService } from '../support/services.js';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

async function twoPools(permits = 2) {
  const { one, other, client, basePath } = await twoProcesses(connectString);
  const path = `${basePath}/pool`;
  const pool = (of: LockService) => of.semaphore('pool', { permits });
  return {
    services: { one, other },
    one: pool(one),
    other: pool(other),
    pool,
    client,
    basePath,
    path,
    untilPermits: (count: number) => untilContenders(client, `${path}/leases`, count),
    untilAtGate: (count: number) => untilContenders(client, `${path}/locks`, count),
    /** A granted caller leaves the gate in the background. Until then it counts as a contender there. */
    untilGateIsFree: () => untilContenders(client, `${path}/locks`, 0),
    permits: () => contendersAt(client, `${path}/leases`),
    atGate: () => contendersAt(client, `${path}/locks`),
  };
}

/** Records when the lease is granted. */
function asking(asked: Promise<Lease>, log: string[], name: string): Promise<Lease> {
  void asked.then(
    () => log.push(name),
    () => {},
  );
  return asked;
}

describe('a semaphore', () => {
  it('admits as many holders as there are permits, over all sessions', async () => {
    const { one, other } = await twoPools(2);
    const first = await one.acquire();
    const second = await other.acquire();
    expect([first.mode, first.isHeld(), second.isHeld()]).toEqual(['permit', true, true]);
    expect(await one.tryAcquire()).toBeNull();
    expect(await other.tryAcquire()).toBeNull();
    await first.release();
    const third = await other.tryAcquire();
    expect(third?.isHeld()).toBe(true);
    expect(third?.fencingToken).toBeGreaterThan(second.fencingToken);
    expect(await one.tryAcquire()).toBeNull();
  });

  it('keeps its limit with many callers of several sessions, and leaves nothing behind', async () => {
    const { one, other, permits, untilGateIsFree } = await twoPools(3);
    let [inside, most] = [0, 0];
    const full = deferred();
    const work = async () => {
      most = Math.max(most, ++inside);
      if (inside === 3) full.resolve();
      await full.promise;
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside--;
    };
    await Promise.all(Array.from({ length: 60 }, (_, call) => (call % 2 ? one : other).using(work)));
    expect([inside, most]).toEqual([0, 3]);
    expect(await untilGateIsFree()).toEqual([]);
    expect(await permits()).toEqual([]);
  });

  it('grants each of several simultaneous single attempts while permits are left', async () => {
    const { one, other } = await twoPools(4);
    const leases = await Promise.all(Array.from({ length: 4 }, (_, call) => (call % 2 ? one : other).tryAcquire()));
    expect(leases.every((lease) => lease?.isHeld())).toBe(true);
    expect(await one.tryAcquire()).toBeNull();
  });

  it('uses the names of Curator’s InterProcessSemaphoreV2', async () => {
    const { one, permits, atGate, untilAtGate, untilGateIsFree, client, path } = await twoPools(1);
    const lease = await one.acquire({ label: 'Pdf.render' });
    const [name = '', ...others] = await permits();
    expect([name, others]).toEqual([expect.stringMatching(/^_c_[0-9a-f-]{36}-lease-\d{10}$/), []]);
    const { data, stat } = await client.read(`${path}/leases/${name}`);
    expect(JSON.parse(data.toString())).toMatchObject({ pid: process.pid, label: 'Pdf.render' });
    expect(lease.fencingToken).toBe(stat.czxid << 16n);
    await untilGateIsFree();
    const waiting = one.acquire();
    const [gate] = await untilAtGate(1);
    expect(gate).toMatch(/^_c_[0-9a-f-]{36}-lock-\d{10}$/);
    await lease.release();
    await (await waiting).release();
    expect([await permits(), await atGate()]).toEqual([[], []]);
  });

  it('counts no foreign child as a permit', async () => {
    const { one, client, path } = await twoPools(1);
    await one.using(() => {});
    for (const name of ['config', 'x-lock-0000000000'])
      await client.create({
        path: `${path}/leases/${name}`,
        data: Buffer.alloc(0),
        acl: OPEN,
        mode: CreateMode.ephemeral,
      });
    expect(await one.tryAcquire()).not.toBeNull();
  });

  it('excludes no lock of the same key', async () => {
    const { one, services } = await twoPools(1);
    await one.acquire();
    expect(await services.other.tryAcquire('pool')).not.toBeNull();
  });
});

describe('a waiter for permits', () => {
  it('is granted in order, with growing tokens', async () => {
    const { one, other, untilAtGate, untilGateIsFree } = await twoPools(1);
    const lease = await one.acquire();
    await untilGateIsFree();
    const log: string[] = [];
    const waits: Promise<Lease>[] = [];
    for (const [place, pool] of [other, one, other, one].entries()) {
      const waiting = asking(pool.acquire(), log, `${place}`);
      waits.push(waiting);
      await untilAtGate(place + 1);
    }
    await lease.release();
    let last = lease.fencingToken;
    for (const waiting of waits) {
      const next = await waiting;
      expect(next.fencingToken).toBeGreaterThan(last);
      last = next.fencingToken;
      await next.release();
    }
    expect(log).toEqual(['0', '1', '2', '3']);
  });

  it('is not starved by requests for less, whatever the order of the releases', async () => {
    const { one, other, untilAtGate, untilGateIsFree } = await twoPools(3);
    const held = [await one.acquire(), await other.acquire(), await one.acquire()];
    await untilGateIsFree();
    const log: string[] = [];
    const big = asking(other.acquire({ permits: 3 }), log, 'big');
    await untilAtGate(1);
    const small = asking(one.acquire(), log, 'small');
    await untilAtGate(2);
    for (const place of [2, 0]) {
      await held[place]?.release();
      expect(await other.tryAcquire()).toBeNull();
      expect(log).toEqual([]);
    }
    await held[1]?.release();
    expect((await big).isHeld()).toBe(true);
    expect(log).toEqual(['big']);
    await (await big).release();
    expect((await small).isHeld()).toBe(true);
  });

  it('is granted after another one when both want all permits', async () => {
    const { one, other } = await twoPools(4);
    let inside = 0;
    const alone = async () => {
      expect(++inside).toBe(1);
      await new Promise(setImmediate);
      inside--;
    };
    await Promise.all(Array.from({ length: 10 }, (_, call) => (call % 2 ? one : other).using(alone, { permits: 4 })));
    expect(inside).toBe(0);
  });

  it('leaves no znode when its time is up, at the gate and behind it', async () => {
    const { one, other, permits, untilPermits, untilAtGate, untilGateIsFree } = await twoPools(2);
    await one.acquire();
    // It outlasts the second wait, also on a busy machine. A wait that is over before it was seen is over.
    const first = Promise.allSettled([other.acquire({ permits: 2, waitMs: 5_000 })]);
    await Promise.race([untilPermits(3), first]);
    const second = Promise.allSettled([one.acquire({ waitMs: 500 })]);
    await Promise.race([untilAtGate(2), second]);
    const outcomes = [await first, await second].flat();
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual([
      'LOCK_TIMEOUT',
      'LOCK_TIMEOUT',
    ]);
    expect(await permits()).toHaveLength(1);
    expect(await untilGateIsFree()).toEqual([]);
    expect(await other.tryAcquire()).not.toBeNull();
  });

  it('leaves no znode before an aborted wait rejects with the caller’s reason', async () => {
    const { one, other, permits, atGate, untilPermits } = await twoPools(2);
    const lease = await one.acquire();
    const abort = new AbortController();
    const waiting = other.acquire({ permits: 2, signal: abort.signal });
    await untilPermits(3);
    abort.abort(new Error('the customer left'));
    await expect(waiting).rejects.toThrow('the customer left');
    expect([(await permits()).length, await atGate()]).toEqual([1, []]);
    await lease.release();
    expect(await permits()).toEqual([]);
  });

  it('is granted when a holder’s process has died', async () => {
    const { other, basePath } = await twoPools(1);
    const dying = await openService({ connectString, basePath });
    await dying.semaphore('pool', { permits: 1 }).acquire();
    const waiting = other.acquire();
    await closeService(dying);
    expect((await waiting).isHeld()).toBe(true);
  });

  it('is queued again when its znodes were deleted from outside', async () => {
    const { one, other, untilPermits, atGate, client, path } = await twoPools(1);
    const lease = await one.acquire();
    const waiting = other.acquire();
    const [, own] = await untilPermits(2);
    await client.delete(`${path}/leases/${own}`);
    await untilPermits(2);
    const [gate] = await atGate();
    await client.delete(`${path}/locks/${gate}`);
    await untilPermits(2);
    await lease.release();
    expect((await waiting).isHeld()).toBe(true);
  });
});

describe('a lease on permits', () => {
  it('is lost with any one of them, and releases the others', async () => {
    const { one, other, permits, client, path } = await twoPools(3);
    const lease = await one.acquire({ permits: 3 });
    const [, name] = await permits();
    await client.delete(`${path}/leases/${name}`);
    await lost(lease);
    expect([lease.state, lease.isHeld()]).toEqual(['lost', false]);
    expect((await other.acquire({ permits: 3 })).isHeld()).toBe(true);
  });

  it('acquires several in one transaction, and releases all at once', async () => {
    const { one, permits, client, path } = await twoPools(4);
    const lease = await one.acquire({ permits: 3 });
    const names = await permits();
    const czxids = await Promise.all(
      names.map(async (name) => (await client.read(`${path}/leases/${name}`)).stat.czxid),
    );
    expect([names.length, new Set(czxids).size]).toEqual([3, 1]);
    await lease.release();
    expect(await permits()).toEqual([]);
  });
});

describe('the number of permits', () => {
  it('comes from the options until another one is recorded for all', async () => {
    const { one, other, client, path } = await twoPools(2);
    expect(await one.permits()).toBe(2);
    await one.setPermits(5);
    expect(await other.permits()).toBe(5);
    expect((await client.read(`${path}/permits`)).data).toEqual(Buffer.from([0, 0, 0, 5]));
    const leases = await Promise.all(Array.from({ length: 5 }, () => other.acquire()));
    expect(await one.tryAcquire()).toBeNull();
    expect(leases.every((lease) => lease.isHeld())).toBe(true);
  });

  it('admits waiters in their order when it grows', async () => {
    const { one, other, untilAtGate, untilGateIsFree } = await twoPools(1);
    await one.acquire();
    await untilGateIsFree();
    const log: string[] = [];
    const waits = [asking(other.acquire(), log, 'first')];
    await untilAtGate(1);
    waits.push(asking(one.acquire(), log, 'second'));
    await untilAtGate(2);
    // The first recorded number, and then another one.
    await other.setPermits(2);
    await waits[0];
    await untilAtGate(1);
    await other.setPermits(3);
    await waits[1];
    expect(log).toEqual(['first', 'second']);
  });

  it('lets holders finish when it shrinks, and admits no waiter too early', async () => {
    const { one, other, untilAtGate, untilGateIsFree } = await twoPools(3);
    const held = [await one.acquire(), await one.acquire(), await one.acquire()];
    await untilGateIsFree();
    await other.setPermits(1);
    const log: string[] = [];
    const waiting = asking(other.acquire(), log, 'in');
    await untilAtGate(1);
    for (const lease of held.slice(1)) {
      await lease.release();
      expect(await one.tryAcquire()).toBeNull();
    }
    expect([held[0]?.isHeld(), log]).toEqual([true, []]);
    await held[0]?.release();
    expect((await waiting).isHeld()).toBe(true);
  });

  it('admits no waiter while it is 0', async () => {
    const { one, other } = await twoPools(2);
    await one.setPermits(0);
    expect(await other.tryAcquire()).toBeNull();
    const waiting = other.acquire();
    await one.setPermits(1);
    expect((await waiting).isHeld()).toBe(true);
  });

  it('can be shared with other clients, at a path of its own', async () => {
    const { services, client, basePath } = await twoPools();
    const sharedCount = `${basePath}/counts/pool`;
    const [one, other] = [services.one, services.other].map((of) => of.semaphore('pool', { permits: 1, sharedCount }));
    await one?.acquire();
    expect((await client.read(sharedCount)).data).toEqual(Buffer.from([0, 0, 0, 1]));
    const waiting = other?.acquire();
    await client.multi([{ type: 'setData', path: sharedCount, data: Buffer.from([0, 0, 0, 2]) }]);
    expect((await waiting)?.isHeld()).toBe(true);
  });

  it('is the one of another semaphore, as the key of that number is written', async () => {
    const { services } = await twoPools();
    const pdf = services.one.semaphore('pdf', { permits: 4 });
    const ocr = services.other.semaphore('ocr', { permits: 4, sharedCount: 'pdf/permits' });
    await pdf.acquire();
    await pdf.setPermits(1);
    expect(await ocr.permits()).toBe(1);
    await ocr.acquire();
    expect(await ocr.tryAcquire()).toBeNull();
  });

  it('is not written into the directory of a lock, which goes with the lock', async () => {
    const { services } = await twoPools();
    await services.other.acquire('cfg/n/x');
    const pool = services.one.semaphore('pool', { permits: 4, sharedCount: 'cfg/n' });
    await expect(pool.setPermits(1)).rejects.toThrow(
      'use another sharedCount, at and below which no key of a lock lies',
    );
  });

  it('is refused with LockConfigurationError when it is no number', async () => {
    const { services, client, basePath } = await twoPools();
    await client.create({ path: `${basePath}`, data: Buffer.alloc(0), acl: OPEN, mode: CreateMode.persistent });
    await client.create({ path: `${basePath}/n`, data: Buffer.from('a lot'), acl: OPEN, mode: CreateMode.persistent });
    const pool = services.one.semaphore('pool', { permits: 1, sharedCount: 'n' });
    await expect(pool.permits()).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    await expect(pool.acquire()).rejects.toThrow(`${basePath}/n is no number of permits`);
    expect(await contendersAt(client, `${basePath}/pool/leases`)).toEqual([]);
  });
});

describe('the contenders of a semaphore', () => {
  it('are the holders and the waiters, in order', async () => {
    const { one, other, services, untilPermits, untilAtGate, untilGateIsFree } = await twoPools(3);
    await one.acquire({ permits: 2, label: 'a' });
    await untilGateIsFree();
    await other.acquire({ label: 'b' });
    await untilGateIsFree();
    const abort = new AbortController();
    const waits = [other.acquire({ permits: 2, label: 'c', signal: abort.signal })];
    await untilPermits(5);
    waits.push(one.acquire({ label: 'd', signal: abort.signal }));
    await untilAtGate(2);
    const shown = await services.one.contenders('pool');
    expect(shown.map(({ state, mode, permits, owner, isOwn }) => [state, mode, permits, owner.label, isOwn])).toEqual([
      ['held', 'permit', 2, 'a', true],
      ['held', 'permit', 1, 'b', false],
      ['waiting', 'permit', 2, 'c', false],
      ['waiting', 'permit', undefined, 'd', true],
    ]);
    abort.abort(new Error('enough'));
    await Promise.allSettled(waits);
    await eventually(async () => (await services.one.contenders('pool')).length === 2 || undefined, 'two are left');
  });
});
