import { describe, expect, inject, it } from 'vitest';
import { CoordinationService } from '../../lib/coordination/coordination.service.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient } from '../support/znodes.js';
import { LockProgram } from './support/lock-program.js';

const connectString = inject('zookeeper');
const OPEN = [{ permissions: 31, scheme: 'world', id: 'anyone' }] as const;

// Some are sorted before, some behind every number of a wait queue.
const FOREIGN = [
  'metadata',
  'lock-',
  'leases',
  '__lock__0000000000',
  '0'.repeat(32) + '__lock__0000000000',
  '0'.repeat(32) + '__rlock__0000000000',
  'x-81985529216486895-0000000000',
  'n_0000000000',
  '_c_00000000-0000-4000-8000-000000000000-latch-0000000000',
  'lock-00000000000',
  'lock-000000000',
  'lock-0000000000-copy',
];

describe('children of a lock’s path that are no contenders', () => {
  it('neither block a lock nor grant it', async () => {
    const path = freshBasePath();
    const [one, other] = await Promise.all([1, 2].map(() => openService({ connectString, basePath: '/' })));
    const client = await openClient(connectString);
    // The server removes an empty directory, so the lock keeps it until the children exist.
    await one!.using(path, async () => {
      for (const name of FOREIGN) {
        await client.create({ path: `${path}/${name}`, data: Buffer.alloc(0), acl: OPEN, mode: 0 });
      }
    });
    const waits = { waitMs: 10_000 };
    const sides = [one!.mutex(path), one!.readWriteLock(path).read, one!.readWriteLock(path).write];
    for (const lock of sides) {
      const lease = await lock.acquire(waits);
      expect(await other!.tryAcquire(path)).toBeNull();
      const waiting = other!.acquire(path, waits);
      await lease.release();
      await (await waiting).release();
    }
    for (const name of FOREIGN) await client.delete(`${path}/${name}`);
  });

  it('are not created by us: Curator’s locks see only contenders', async () => {
    const path = freshBasePath();
    await using java = new LockProgram('java', connectString, 10_000);
    const service = await openService({ connectString, basePath: '/', localLine: true, keepMs: 60_000 });
    const client = await openClient(connectString);
    const lease = await service.acquire(path, { label: 'someone' });
    const elsewhere = [service.tryAcquire(path), service.readWriteLock(path).write.tryAcquire()];
    expect(await Promise.all(elsewhere)).toEqual([null, null]);
    await service.contenders(path);
    expect(await contendersAt(client, path)).toEqual([expect.stringMatching(/^_c_[0-9a-f-]{36}-lock-\d{10}$/)]);
    const theirs = java.acquire({ path, kind: 'mutex' }, 20_000);
    await lease.release();
    expect(await theirs).not.toBeNull();
    expect(await contendersAt(client, path)).toHaveLength(1);
    await java.release({ path, kind: 'mutex' });
  });

  it('are not created by other uses of the key: Curator’s mutex is granted', async () => {
    const basePath = freshBasePath();
    const path = `${basePath}/order`;
    await using java = new LockProgram('java', connectString, 10_000);
    const service = await openService({ connectString, basePath });
    const coordination = new CoordinationService(service);
    await coordination.queue<string>('order').put('an item');
    await coordination.counter('order').add(1);
    await coordination.barrier('order').raise();
    await service.stock('order', { segments: 2 }).restock(4);
    const segment = await service.segmented('order', { segments: 2 }).acquire();

    expect(await java.acquire({ path, kind: 'mutex' }, 10_000)).not.toBeNull();
    expect(await service.tryAcquire('order')).toBeNull();
    await java.release({ path, kind: 'mutex' });
    expect(segment.isHeld()).toBe(true);
  });
});
