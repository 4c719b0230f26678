import { describe, expect, inject, it } from 'vitest';
import type { Lease } from '../../../lib/contract/lease.js';
import type { SemaphoreLock } from '../../../lib/contract/semaphore.options.js';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient, untilContenders } from '../../support/znodes.js';
import { startJava } from '../support/start.js';

const connectString = inject('zookeeper');
/** Longer than the stalls of a busy machine. */
const SESSION_MS = 10_000;
/** The session timeout of a process that is killed. */
const SHORT_SESSION_MS = 2_000;

/** One semaphore for both sides, and a client that observes. @param javaSessionMs the session timeout of Java's side */
async function shared(permits: number, javaSessionMs = SESSION_MS) {
  const basePath = freshBasePath();
  const path = `${basePath}/pool`;
  const locks = await openService({ connectString, basePath });
  const client = await openClient(connectString);
  const java = startJava('Semaphores', [connectString, String(javaSessionMs)]);
  const pool = locks.semaphore('pool', { permits });
  const asks = (name: string, more: object = {}) =>
    java.call<boolean>('acquire', { path, max: permits, name, ...more }, { thread: name });
  const permitsTaken = (count: number) => untilContenders(client, `${path}/leases`, count);
  const atGate = (count: number) => untilContenders(client, `${path}/locks`, count);
  return { path, basePath, locks, pool, client, java, asks, permitsTaken, atGate };
}

describe('Curator’s InterProcessSemaphoreV2 and ours', () => {
  it('share the permits', async () => {
    const { pool, java, asks } = await shared(3);
    await using _ = java;
    const mine = [await pool.acquire(), await pool.acquire()];
    expect(await asks('a')).toBe(true);
    expect(await pool.tryAcquire()).toBeNull();
    expect(await asks('b', { waitMs: 200 })).toBe(false);
    await mine[0]?.release();
    expect(await asks('b')).toBe(true);
    expect(await pool.tryAcquire()).toBeNull();
    await java.call('release', { name: 'a' });
    expect((await pool.acquire()).isHeld()).toBe(true);
  });

  it('share one wait queue, first come first served', async () => {
    const { pool, java, asks, permitsTaken, atGate } = await shared(1);
    await using _ = java;
    const order: string[] = [];
    const held = await pool.acquire();
    // A granted caller leaves the gate in the background.
    await atGate(0);
    const first = asks('java').then(() => order.push('java'));
    await atGate(1);
    // Curator's client creates its permit first, and then waits, too.
    await permitsTaken(2);
    const second = pool.acquire().then((lease) => (order.push('node'), lease));
    await atGate(2);
    const third = asks('java again').then(() => order.push('java again'));
    await atGate(3);
    await held.release();
    await first;
    await java.call('release', { name: 'java' });
    await (await second).release();
    await third;
    expect(order).toEqual(['java', 'node', 'java again']);
  });

  it('acquire several permits at once from each other', async () => {
    const { pool, java, asks, permitsTaken } = await shared(4);
    await using _ = java;
    expect(await asks('java', { permits: 3 })).toBe(true);
    expect(await pool.tryAcquire({ permits: 2 })).toBeNull();
    const waiting = pool.acquire({ permits: 4 });
    await permitsTaken(7);
    expect(await java.call('release', { name: 'java' })).toBe(3);
    const lease = await waiting;
    expect(await asks('java', { waitMs: 200 })).toBe(false);
    await lease.release();
    expect(await asks('java', { permits: 4 })).toBe(true);
  });

  it('get the permits of a process that was killed', async () => {
    const { pool, java, asks, basePath } = await shared(1, SHORT_SESSION_MS);
    expect(await asks('java')).toBe(true);
    const waiting = pool.acquire();
    await java.kill();
    const lease = await waiting;
    expect(lease.isHeld()).toBe(true);
    const again = startJava('Semaphores', [connectString, String(SESSION_MS)]);
    await using _ = again;
    const next = again.call('acquire', { path: `${basePath}/pool`, max: 1, name: 'b' });
    await lease.release();
    expect(await next).toBe(true);
  });

  it('never exceed the number of permits, however many callers both sides have', { timeout: 180_000 }, async () => {
    const PERMITS = 3;
    const { pool, java, asks, client, path } = await shared(PERMITS);
    await using _ = java;
    let [inside, most] = [0, 0];
    const stay = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inside--;
    };
    const ours = Array.from({ length: 4 }, async () => {
      for (let round = 0; round < 10; round++) await pool.using(stay);
    });
    const theirs = Array.from({ length: 4 }, async (_0, caller) => {
      for (let round = 0; round < 10; round++) {
        const name = `java ${caller}`;
        expect(await asks(name)).toBe(true);
        await stay();
        await java.call('release', { name }, { thread: name });
      }
    });
    await Promise.all([...ours, ...theirs]);
    expect(most).toBeLessThanOrEqual(PERMITS);
    expect(await contendersAt(client, `${path}/leases`)).toEqual([]);
  });
});

describe('a shared count', () => {
  const countOf = (path: string) => ({ countPath: `${path}/permits`, seed: 1 });

  it('is changed by one side and noticed by the other', async () => {
    const { pool, java, asks, path, permitsTaken } = await shared(1);
    await using _ = java;
    await pool.setPermits(2);
    expect(await java.call('count', countOf(path))).toBe(2);
    expect(await asks('a', countOf(path))).toBe(true);
    expect(await asks('b', countOf(path))).toBe(true);
    const waiting: Promise<Lease> = pool.acquire();
    await permitsTaken(3);
    await java.call('setCount', { ...countOf(path), count: 3 }, { thread: 'count' });
    expect((await waiting).isHeld()).toBe(true);
    const theirs = asks('c', countOf(path));
    await permitsTaken(4);
    await pool.setPermits(4);
    expect(await theirs).toBe(true);
    expect(await pool.permits()).toBe(4);
  });

  it('can be at a path of its own, whichever side created it', async () => {
    const { locks, java, basePath } = await shared(1);
    await using _ = java;
    const sharedCount = `${basePath}/counts/pool`;
    await java.call('count', { countPath: sharedCount, seed: 7 });
    const pool: SemaphoreLock = locks.semaphore('pool', { permits: 1, sharedCount });
    expect(await pool.permits()).toBe(7);
    const other = locks.semaphore('other', { permits: 5, sharedCount: `${basePath}/counts/other` });
    expect(await other.permits()).toBe(5);
    expect(await java.call('count', { countPath: `${basePath}/counts/other`, seed: 1 })).toBe(5);
  });
});

describe('the contenders of a semaphore', () => {
  it('include Curator’s', async () => {
    const { locks, pool, java, asks, permitsTaken } = await shared(2);
    await using _ = java;
    expect(await asks('a')).toBe(true);
    await pool.acquire({ label: 'ours' });
    const waiting = asks('b', { waitMs: 60_000 });
    await permitsTaken(3);
    const shown = await locks.contenders('pool');
    expect(shown.map(({ state, permits, owner, isOwn }) => [state, permits, owner.label, isOwn])).toEqual([
      ['held', 1, undefined, false],
      ['held', 1, 'ours', true],
      ['waiting', 1, undefined, false],
    ]);
    await java.call('release', { name: 'a' }, { thread: 'other' });
    expect(await waiting).toBe(true);
  });
});
