import { describe, expect, inject, it } from 'vitest';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

async function library() {
  const { one, other, client, basePath } = await twoProcesses(connectString);
  const until = (count: number) => untilContenders(client, `${basePath}/prices`, count);
  return {
    one: one.readWriteLock('prices'),
    other: other.readWriteLock('prices'),
    service: one,
    client,
    basePath,
    until,
  };
}

describe('read-write lock', () => {
  it('admits readers together, and no writer among them', async () => {
    const { one, other } = await library();
    const first = await one.read.acquire();
    const second = await other.read.acquire();
    expect([first.mode, second.mode]).toEqual(['read', 'read']);
    expect(await other.write.tryAcquire()).toBeNull();

    await first.release();
    expect(await one.write.tryAcquire()).toBeNull();
    await second.release();
    expect(await one.write.tryAcquire()).not.toBeNull();
  });

  it('admits a writer alone', async () => {
    const { one, other } = await library();
    await one.write.acquire();
    expect(await other.read.tryAcquire()).toBeNull();
    expect(await other.write.tryAcquire()).toBeNull();
  });

  it('does not let readers overtake a waiting writer', async () => {
    const { one, other, until } = await library();
    const order: string[] = [];
    const reader = await one.read.acquire();
    const writing = other.write.using(() => void order.push('writer'));
    await until(2);
    const reading = one.read.using(() => void order.push('late reader'));
    await until(3);

    expect(await other.read.tryAcquire()).toBeNull();
    await reader.release();
    await Promise.all([writing, reading]);

    expect(order).toEqual(['writer', 'late reader']);
  });

  it('admits all readers up to the next writer when a writer releases', async () => {
    const { one, other, until } = await library();
    const writer = await one.write.acquire();
    const readers = [other.read.acquire(), one.read.acquire(), other.read.acquire()];
    await until(4);
    let nextWriter = false;
    const writing = one.write.acquire().then((lease) => {
      nextWriter = true;
      return lease;
    });
    await until(5);

    await writer.release();
    const leases = await Promise.all(readers);

    expect(leases.every((lease) => lease.isHeld())).toBe(true);
    expect(nextWriter).toBe(false);
    await Promise.all(leases.map((lease) => lease.release()));
    expect((await writing).isHeld()).toBe(true);
  });

  it('excludes the mutex of the same key, in both directions', async () => {
    const { one, service } = await library();
    const reader = await one.read.acquire();
    expect(await service.tryAcquire('prices')).toBeNull();
    await reader.release();
    const mutex = await service.acquire('prices');
    expect(await one.read.tryAcquire()).toBeNull();
    expect(await one.write.tryAcquire()).toBeNull();
    await mutex.release();
    expect(await one.write.tryAcquire()).not.toBeNull();
  });

  it('uses the names of Curator’s InterProcessReadWriteLock', async () => {
    const { one, client, basePath } = await library();
    const lease = await one.read.acquire();
    expect(await contendersAt(client, `${basePath}/prices`)).toEqual([expect.stringMatching(/^_c_.*-__READ__\d{10}$/)]);
    await lease.release();
    await one.write.acquire();
    expect(await contendersAt(client, `${basePath}/prices`)).toEqual([expect.stringMatching(/^_c_.*-__WRIT__\d{10}$/)]);
  });
});
