import { describe, expect, inject, it } from 'vitest';
import { LockLostError, LockRevokedError } from '../../lib/contract/errors.js';
import { OpCode } from '../../lib/zookeeper/wire/codes.js';
import { freshBasePath } from '../support/base-path.js';
import { lost } from '../support/lost.js';
import { openService } from '../support/services.js';
import { openReplyThief } from '../support/reply-thief.js';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const REVOKE = Buffer.from('__REVOKE__');

describe('a revoked key', () => {
  it('is given back by a holder that is asked to, and nobody is hurt', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.acquire('k', { label: 'Orders.place' });
    const next = other.acquire('k');
    await untilContenders(client, `${basePath}/k`, 2);

    const revoking = other.revoke('k', { graceMs: 60_000 });

    expect(await lost(lease)).toBeInstanceOf(LockRevokedError);
    expect([lease.state, lease.isHeld()]).toEqual(['revoking', true]);
    // The holder can still be identified.
    expect((await other.contenders('k'))[0]).toMatchObject({ state: 'held', owner: { label: 'Orders.place' } });
    await lease.release();
    await revoking;
    expect([(await next).state, (await next).signal.aborted]).toEqual(['held', false]);
  });

  it('is taken by force after the grace period, and the lease is lost then', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.acquire('k');
    const states: string[] = [];
    void lost(lease).then(() => states.push(lease.state));
    await other.revoke('k', { graceMs: 300 });
    expect(await contendersAt(client, `${basePath}/k`)).toEqual([]);
    const next = await other.acquire('k');
    while (lease.state !== 'lost') await new Promise(setImmediate);
    expect([lease.isHeld(), states, lease.signal.reason]).toEqual([false, ['revoking'], expect.any(LockRevokedError)]);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await lease.release();
    expect(next.isHeld()).toBe(true);
  });

  it('is taken at once without a grace period', async () => {
    const { one, other } = await twoProcesses(connectString);
    const lease = await one.acquire('k');
    await other.revoke('k', { graceMs: 0 });
    expect((await other.acquire('k')).fencingToken).toBeGreaterThan(lease.fencingToken);
    await lost(lease);
  });

  it('makes work that ends after the loss reject, and earlier work succeed', async () => {
    const { one, other } = await twoProcesses(connectString);
    const revoked: Promise<void>[] = [];
    const overrun = one.using('k', async (lease) => {
      revoked.push(other.revoke('k', { graceMs: 1_000 }));
      while (lease.state !== 'lost') await new Promise(setImmediate);
    });
    await expect(overrun).rejects.toMatchObject({ name: 'LockRevokedError' });
    const kept = one.using('k', async (lease) => {
      revoked.push(other.revoke('k', { graceMs: 60_000 }));
      await lost(lease);
      return 'done';
    });
    expect(await kept).toBe('done');
    await Promise.all(revoked);
  });

  it('needs no holder', async () => {
    const { one } = await twoProcesses(connectString);
    await expect(one.revoke('k')).resolves.toBeUndefined();
    await one.using('k', () => {});
    await expect(one.revoke('k')).resolves.toBeUndefined();
  });

  it('affects holders, not waiters', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const { read, write } = one.readWriteLock('k');
    const readers = [await read.acquire(), await other.readWriteLock('k').read.acquire()];
    const writing = write.acquire();
    await untilContenders(client, `${basePath}/k`, 3);
    const revoking = other.revoke('k', { graceMs: 60_000 });
    for (const reader of readers) {
      expect(await lost(reader)).toBeInstanceOf(LockRevokedError);
      await reader.release();
    }
    await revoking;
    const writer = await writing;
    expect([writer.state, writer.signal.aborted]).toEqual(['held', false]);
  });

  it('is not released by a writer that downgrades', async () => {
    const { one, other } = await twoProcesses(connectString);
    const { read, write } = one.readWriteLock('k');
    let isOver = false;
    const [reading, revoking] = await write.using(async (writer) => {
      const revoked = other.revoke('k', { graceMs: 60_000 }).then(() => (isOver = true));
      await lost(writer);
      return [await read.acquire(), revoked] as const;
    });
    expect([reading.state, reading.isHeld(), reading.mode]).toEqual(['revoking', true, 'read']);
    await other.readWriteLock('k').read.using(() => {});
    expect(isOver).toBe(false);
    await reading.release();
    await revoking;
    expect((await other.readWriteLock('k').write.acquire()).isHeld()).toBe(true);
  });

  it('is taken by force from a writer that downgrades', async () => {
    const { one, other } = await twoProcesses(connectString);
    const { read, write } = one.readWriteLock('k');
    const [reading, revoking] = await write.using(async (writer) => {
      const revoked = other.revoke('k', { graceMs: 300 });
      await lost(writer);
      return [await read.acquire(), revoked] as const;
    });
    await revoking;
    expect((await other.readWriteLock('k').write.acquire()).isHeld()).toBe(true);
    while (reading.state !== 'lost') await new Promise(setImmediate);
    expect(reading.isHeld()).toBe(false);
  });

  it('affects the holders of its permits, not the waiters', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const [mine, theirs] = [one, other].map((of) => of.semaphore('k', { permits: 3 }));
    const leases = [await mine?.acquire({ permits: 2 }), await theirs?.acquire()];
    const waiting = mine?.acquire({ permits: 3 });
    await untilContenders(client, `${basePath}/k/leases`, 6);
    await one.revoke('k', { graceMs: 100 });
    expect((await waiting)?.state).toBe('held');
    for (const lease of leases) expect(lease && (await lost(lease))).toBeInstanceOf(LockRevokedError);
  });

  it('can be held with line: none', async () => {
    const { one, other } = await twoProcesses(connectString);
    const lock = one.mutex('k', { line: 'none' });
    const lease = await lock.acquire();
    const revoking = other.revoke('k', { graceMs: 60_000 });
    expect(await lost(lease)).toBeInstanceOf(LockRevokedError);
    await lease.release();
    await revoking;
    expect(await other.mutex('k', { line: 'none' }).tryAcquire()).not.toBeNull();
  });

  it('is refused with an invalid grace or key before any request', async () => {
    const { one } = await twoProcesses(connectString);
    await expect(one.revoke('k', { graceMs: -1 })).rejects.toThrow('graceMs must be');
    await expect(one.revoke('k', { grace: 1 } as object)).rejects.toThrow('unknown field "grace"');
    await expect(one.revoke('')).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
  });

  it('stays requested, and is not taken by force, when the call is aborted', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.acquire('k');
    const abort = new AbortController();
    const revoking = other.revoke('k', { graceMs: 1_000, signal: abort.signal });
    await lost(lease);
    abort.abort(new Error('never mind'));
    await expect(revoking).rejects.toThrow('never mind');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([lease.state, (await contendersAt(client, `${basePath}/k`)).length]).toEqual(['revoking', 1]);
  });
});

describe('Curator’s revocation marker', () => {
  it('in a holder’s znode requests a release, however early it arrives', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    for (const waits of [0, 300]) {
      const lease = await one.acquire('k');
      await new Promise((resolve) => setTimeout(resolve, waits));
      const [name] = await contendersAt(client, `${basePath}/k`);
      await client.multi([{ type: 'setData', path: `${basePath}/k/${name}`, data: REVOKE }]);
      expect(await lost(lease)).toBeInstanceOf(LockRevokedError);
      expect(await other.contenders('k')).toMatchObject([{ state: 'held', owner: { host: undefined } }]);
      await lease.release();
    }
  });

  it('in a waiter’s znode takes effect when it is granted', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.acquire('k');
    const waiting = other.acquire('k');
    const [, name] = await untilContenders(client, `${basePath}/k`, 2);
    await client.multi([{ type: 'setData', path: `${basePath}/k/${name}`, data: REVOKE }]);
    await lease.release();
    expect(await lost(await waiting)).toBeInstanceOf(LockRevokedError);
  });

  it('asks a foreign holder to release', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    // The server removes an empty directory, so the lock keeps it until the foreign holder's znode exists.
    const { path } = await one.using('k', () =>
      client.create({
        path: `${basePath}/k/_c_00000000-0000-0000-0000-000000000000-lock-`,
        data: Buffer.from('127.0.0.1'),
        acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }],
        mode: 3,
      }),
    );
    const revoking = one.revoke('k', { graceMs: 60_000 });
    const watched = await client.watchData(path);
    if (!watched.data.equals(REVOKE)) await watched.watch.fired;
    expect((await client.read(path)).data).toEqual(REVOKE);
    await client.delete(path);
    await revoking;
  });
});

describe('a key that callers of one process share', () => {
  it('is revoked for its holder, and granted to no other caller of the process', async () => {
    const basePath = freshBasePath();
    const [one, other] = [
      await openService({ connectString, basePath, localLine: true }),
      await openService({ connectString, basePath }),
    ];
    const client = await openClient(connectString);
    const lease = await one.acquire('k');
    const behind = one.acquire('k');
    const elsewhere = other.acquire('k');
    await untilContenders(client, `${basePath}/k`, 2);
    const revoking = other.revoke('k', { graceMs: 60_000 });
    await lost(lease);
    await lease.release();
    await revoking;
    const next = await elsewhere;
    expect(next.state).toBe('held');
    await next.release();
    expect((await behind).signal.aborted).toBe(false);
  });

  it('is revoked for all its readers', async () => {
    const basePath = freshBasePath();
    const [one, other] = [
      await openService({ connectString, basePath, localLine: true }),
      await openService({ connectString, basePath }),
    ];
    const { read } = one.readWriteLock('k');
    const readers = [await read.acquire(), await read.acquire()];
    const revoking = other.revoke('k', { graceMs: 60_000 });
    for (const reader of readers) {
      expect(await lost(reader)).toBeInstanceOf(LockRevokedError);
      await reader.release();
    }
    await revoking;
  });

  it('is given up at once while its lease is only warm', async () => {
    const basePath = freshBasePath();
    const [one, other] = [
      await openService({ connectString, basePath, localLine: true, keepMs: 600_000 }),
      await openService({ connectString, basePath }),
    ];
    await one.using('k', () => {});
    await other.revoke('k', { graceMs: 60_000 });
    expect(await other.tryAcquire('k')).not.toBeNull();
  });
});

describe('a revocation', () => {
  it('continues when its connection is lost while it waits', async () => {
    const basePath = freshBasePath();
    const thief = await openReplyThief(connectString);
    const [holder, revoker] = [
      await openService({ connectString, basePath }),
      await openService({ connectString: thief.connectString, basePath }),
    ];
    const lease = await holder.acquire('k');
    const revoking = revoker.revoke('k', { graceMs: 60_000 });
    await lost(lease);
    await thief.stealNext(OpCode.ping);
    await lease.release();
    await expect(revoking).resolves.toBeUndefined();
  });

  it('continues with its next session', async () => {
    const basePath = freshBasePath();
    const thief = await openReplyThief(connectString);
    const [holder, revoker] = [
      await openService({ connectString, basePath }),
      await openService({ connectString: thief.connectString, basePath, sessionTimeoutMs: 1_000 }),
    ];
    const client = await openClient(connectString);
    const lease = await holder.acquire('k');
    await revoker.acquire('until its session is over');
    const revoking = revoker.revoke('k', { graceMs: 60_000 });
    await lost(lease);
    thief.isOpen = false;
    await thief.cutBefore(OpCode.multi);
    await untilContenders(client, `${basePath}/until its session is over`, 0);
    thief.isOpen = true;
    await lease.release();
    await expect(revoking).resolves.toBeUndefined();
  });

  it('takes nothing from the next holder when it outlives the revoked one', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.acquire('k');
    const next = other.acquire('k');
    await untilContenders(client, `${basePath}/k`, 2);
    const revoking = other.revoke('k', { graceMs: 500 });
    await lost(lease);
    await lease.release();
    await revoking;
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect([(await next).state, lease.signal.reason instanceof LockLostError]).toEqual(['held', false]);
  });
});
