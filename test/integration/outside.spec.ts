import { setTimeout as pause } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const ROUNDS = 5;

it('does not grant a key to a waiter whose znode was deleted from outside', { timeout: 120_000 }, async () => {
  const connectString = inject('zookeeper');
  const client = await openClient(connectString);
  const open = (basePath: string) => openService({ connectString, basePath, sessionTimeoutMs: 10_000 });
  for (let round = 0; round < ROUNDS; round++) {
    const basePath = freshBasePath();
    const [holds, loses, waits] = [await open(basePath), await open(basePath), await open(basePath)];
    const holder = await holds.acquire('k');
    const loser = loses.acquire('k');
    const names = await untilContenders(client, `${basePath}/k`, 2);
    const waiter = waits.acquire('k');
    await untilContenders(client, `${basePath}/k`, 3);

    await client.delete(`${basePath}/k/${names.toSorted(byNumber)[1]}`);
    await holder.release();

    // The contender without a znode has been queued again, at the end.
    const first = await waiter;
    expect(first.isHeld()).toBe(true);
    await first.release();
    const last = await loser;
    expect(last.fencingToken).toBeGreaterThan(first.fencingToken);
    await last.release();
  }
});

it('a finished second caller of one process leaves no watch, however soon it ends', async () => {
  await using server = await ZooKeeperServer.start();
  const options = { connectString: server.connectString, basePath: freshBasePath(), parents: 'persistent' } as const;
  const service = await openService({ ...options, localLine: true });
  for (let key = 0; key < 20; key++) {
    const lock = service.mutex(`order/${key}`);
    // The first works for longer than its process may keep the key, the second does no work at all.
    await Promise.all([lock.using(() => pause(25)), lock.using(() => {})]);
  }
  await eventually(async () => /^zk_watch_count\s+0$/m.test(await server.ask('mntr')), 'no watch is left');
  expect(await server.ask('mntr')).toMatch(/^zk_watch_count\s+0$/m);
});

function byNumber(a: string, b: string): number {
  return Number(a.slice(-10)) - Number(b.slice(-10));
}
