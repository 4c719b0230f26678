import { describe, expect, inject, it } from 'vitest';
import { LockTimeoutError } from '../../lib/contract/errors.js';
import { twoProcesses } from '../support/two-processes.js';
import { contendersAt, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');

describe('mutex', () => {
  it('is held by one session at a time', async () => {
    const { one, other } = await twoProcesses(connectString);
    const lease = await one.acquire('order/42');

    expect(await other.tryAcquire('order/42')).toBeNull();
    expect(await one.tryAcquire('order/42')).toBeNull();
    expect(await other.tryAcquire('order/43')).not.toBeNull();

    await lease.release();
    expect(await other.tryAcquire('order/42')).not.toBeNull();
  });

  it('serves contenders in the order of the wait queue, with growing tokens', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const order: string[] = [];
    const tokens: bigint[] = [];
    const lease = await one.acquire('line');
    const waits = [];
    for (const [place, service] of [one, other, other, one, other].entries()) {
      const work = ({ fencingToken }: { fencingToken: bigint }) => {
        order.push(`enter ${place}`);
        tokens.push(fencingToken);
        order.push(`leave ${place}`);
      };
      waits.push(service.using('line', work));
      await untilContenders(client, `${basePath}/line`, place + 2);
    }

    await lease.release();
    await Promise.all(waits);

    expect(order).toEqual([0, 1, 2, 3, 4].flatMap((place) => [`enter ${place}`, `leave ${place}`]));
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
    expect(tokens[0]).toBeGreaterThan(lease.fencingToken);
  });

  it('keeps an unprotected counter right', async () => {
    const { one, other } = await twoProcesses(connectString);
    let count = 0;
    const increment = async () => {
      const seen = count;
      await new Promise(setImmediate);
      count = seen + 1;
    };
    await Promise.all(Array.from({ length: 100 }, (_, i) => (i % 2 ? one : other).using('count', increment)));
    expect(count).toBe(100);
  });

  it('leaves the wait queue and removes its watch on a timeout', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    await one.acquire('busy');

    await expect(other.acquire('busy', { waitMs: 50 })).rejects.toMatchObject({
      name: 'LockTimeoutError',
      code: 'LOCK_TIMEOUT',
      key: 'busy',
      waitMs: 50,
      status: 423,
    });
    expect(await contendersAt(client, `${basePath}/busy`)).toHaveLength(1);
    expect(await other.tryAcquire('busy', { waitMs: 50 })).toBeNull();
    expect(await contendersAt(client, `${basePath}/busy`)).toHaveLength(1);
  });

  it('leaves the wait queue before an aborted wait rejects with the caller’s reason', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    await one.acquire('busy');
    const abort = new AbortController();
    const reason = new Error('the customer left');
    const waiting = other.acquire('busy', { signal: abort.signal });
    await untilContenders(client, `${basePath}/busy`, 2);

    abort.abort(reason);

    await expect(waiting).rejects.toBe(reason);
    expect(await contendersAt(client, `${basePath}/busy`)).toHaveLength(1);
  });

  it('hands over past a contender that gave up', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    const lease = await one.acquire('k');
    const abort = new AbortController();
    const impatient = one.acquire('k', { signal: abort.signal });
    await untilContenders(client, `${basePath}/k`, 2);
    const patient = other.acquire('k');
    await untilContenders(client, `${basePath}/k`, 3);

    abort.abort(new Error('gave up'));
    await expect(impatient).rejects.toThrow('gave up');
    await lease.release();

    expect((await patient).isHeld()).toBe(true);
  });

  it('sends no request when the signal has already aborted', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    await expect(one.acquire('k', { signal: AbortSignal.abort('never mind') })).rejects.toBe('never mind');
    expect(await contendersAt(client, `${basePath}/k`)).toEqual([]);
  });

  it('is released once, however often release() is called, and by `await using`', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    {
      await using lease = await one.acquire('scoped');
      await Promise.all([lease.release(), lease.release()]);
      expect(lease.state).toBe('released');
      expect(lease.isHeld()).toBe(false);
    }
    expect(await contendersAt(client, `${basePath}/scoped`)).toEqual([]);
    expect(await other.tryAcquire('scoped')).not.toBeNull();
  });

  it('uses the names of Curator’s InterProcessMutex, and lists its holder', async () => {
    const { one, client, basePath } = await twoProcesses(connectString);
    await one.acquire('a/b', { label: 'Orders.place' });
    const [name = ''] = await contendersAt(client, `${basePath}/a/b`);
    expect(name).toMatch(/^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-0000000000$/);
    const { data } = await client.read(`${basePath}/a/b/${name}`);
    expect(JSON.parse(data.toString())).toMatchObject({ pid: process.pid, label: 'Orders.place' });
  });

  it('treats a key with a leading slash as an absolute path', async () => {
    const { one, other, client, basePath } = await twoProcesses(connectString);
    await one.acquire(`${basePath}/shared with/curator`);
    expect(await contendersAt(client, `${basePath}/shared with/curator`)).toHaveLength(1);
    expect(await other.tryAcquire('shared with/curator')).toBeNull();
  });

  it('reports a timeout as an error of acquire, and as null of tryAcquire', async () => {
    const { one, other } = await twoProcesses(connectString);
    await one.acquire('k');
    await expect(other.acquire('k', { waitMs: 0 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await other.tryAcquire('k')).toBeNull();
  });
});
