import { beforeAll, describe, expect, it } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { openClient } from '../support/znodes.js';

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
});
