import { beforeAll, describe, expect, it } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { CreateMode } from '../../lib/zookeeper/client/zookeeper-client.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { closeService, openService } from '../support/services.js';
import { openClient } from '../support/znodes.js';
import { leftOf, MOST_LEFT } from './use-once.js';

// The server removes no empty containers by itself within a test.
const NEVER_MS = 3_600_000;

describe('keys that are used once', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: NEVER_MS });
    return () => server.stop();
  });

  /** Returns a function that counts the directories of keys below `order`. */
  const keysBelow = async (basePath: string) => {
    const client = await openClient(server.connectString);
    return async () => (await client.children(`${basePath}/order`)).length;
  };
  const requestsReceived = async () => Number(/Received: (\d+)/.exec(await server.ask('srvr'))![1]);

  it('take one request to acquire, and one to release', async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath });
    await service.using('order/first', () => {});
    const before = await requestsReceived();
    const keys = Array.from({ length: 200 }, (_, number) => `order/${number}`);
    for (const key of keys) await service.using(key, () => {});
    // Heartbeats are among them.
    expect(await requestsReceived()).toBeLessThan(before + 2.2 * keys.length);
  });

  it('leave no znode behind, and keys that are held stay', async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath });
    const keysLeft = await keysBelow(basePath);
    const held = await service.acquire('order/held');
    const keys = Array.from({ length: 500 }, (_, number) => `order/${number}`);
    await Promise.all(keys.map((key) => service.using(key, () => {})));
    await eventually(async () => (await keysLeft()) === 1 || undefined, 'only the held key is left');
    expect(held.isHeld()).toBe(true);
    await held.release();
    await eventually(async () => (await keysLeft()) === 0 || undefined, 'no key is left');
  });

  it('are granted again after their znode was removed, with larger tokens', async () => {
    const basePath = freshBasePath();
    const [one, other] = await Promise.all(
      [0, 1].map(() => openService({ connectString: server.connectString, basePath })),
    );
    const keysLeft = await keysBelow(basePath);
    const tokens: bigint[] = [];
    for (const service of [one!, other!, one!]) {
      await service.using('order/1', ({ fencingToken }) => void tokens.push(fencingToken));
      await eventually(async () => (await keysLeft()) === 0 || undefined, 'no key is left');
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('stay as long as another process waits, or holds', async () => {
    const basePath = freshBasePath();
    const [one, other] = await Promise.all(
      [0, 1].map(() => openService({ connectString: server.connectString, basePath })),
    );
    const keysLeft = await keysBelow(basePath);
    const first = await one!.acquire('order/1');
    const waiting = other!.acquire('order/1');
    await eventually(async () => (await one!.contenders('order/1')).length === 2 || undefined, 'a waiter');
    await first.release();
    const second = await waiting;
    // By the time that this key is removed, the other one would have been as well.
    await one!.using('order/2', () => {});
    await eventually(async () => (await keysLeft()) === 1 || undefined, 'only the held key is left');
    expect(second.isHeld()).toBe(true);
    await second.release();
    await eventually(async () => (await keysLeft()) === 0 || undefined, 'no key is left');
  });

  it('leave nothing when other processes have used them, too, or when their process closes at once', async () => {
    const basePath = freshBasePath();
    const open = () => openService({ connectString: server.connectString, basePath });
    const [one, other] = await Promise.all([open(), open()]);
    const keysLeft = await keysBelow(basePath);
    await one!.using('order/first', () => {});
    const keys = Array.from({ length: 100 }, (_, number) => `order/${number}`);
    await Promise.all(keys.map((key) => one!.using(key, () => {})));
    const last = await Promise.all(keys.map((key) => other!.acquire(key)));
    await closeService(one!);
    expect(await keysLeft()).toBe(keys.length);
    await Promise.all(last.map((lease) => lease.release()));
    await closeService(other!);
    expect(await keysLeft()).toBe(0);
  });

  it('leave no directory of theirs behind: readers, permits, and keys below a directory of their own', async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath });
    const client = await openClient(server.connectString);
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    await Promise.all(
      numbers.flatMap((number) => [
        service.using(`tenant/${number}/order`, () => {}),
        service.readWriteLock(`price/${number}`).read.using(() => {}),
        service.semaphore(`pdf/${number}`, { permits: 2 }).using(() => {}),
      ]),
    );
    const count = async () => {
      // A directory above keys is removed with the last of them when there are many others.
      const childrenOf = (name: string) => client.children(`${basePath}/${name}`).catch(() => []);
      return (await Promise.all(['tenant', 'price', 'pdf'].map(childrenOf))).map(({ length }) => length);
    };
    // Up to a hundred directories above keys stay for a minute.
    const left = await eventually(async () => {
      const [tenants = 0, prices = 0, pdfs = 0] = await count();
      return tenants + pdfs <= 100 && prices === 0 ? [tenants + pdfs, prices] : undefined;
    }, 'only the newest directories are left');
    expect(left[0]).toBeLessThanOrEqual(100);
  });

  it("are removed beside Curator's contenders, which stay", async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath });
    const client = await openClient(server.connectString);
    await service.using('order/1', () => {});
    const path = `${basePath}/order/1/_c_8f2b1c1e-5d2c-4b6e-9a52-0d4b7f6f2a11-lock-`;
    const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
    const mode = CreateMode.ephemeralSequential;
    const curators = await client.create({ path, data: Buffer.from('127.0.0.1'), acl, mode });
    await service.using('order/2', () => {});
    await eventually(
      async () => (await client.children(`${basePath}/order`)).join() === '1' || undefined,
      'the other key is removed',
    );
    expect((await client.read(curators.path)).stat.czxid).toBe(curators.czxid);
  });
});

it('keys that are used once leave few znodes on the embedded server, and tokens still grow', async () => {
  expect(await leftOf(4_000)).toBeLessThanOrEqual(MOST_LEFT);
});
