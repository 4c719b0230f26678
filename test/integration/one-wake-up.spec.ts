import { setMaxListeners } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const WAITERS = 200;

/** Counters of the whole server: it is this test's own. */
async function watchesFiredByDeletions(server: ZooKeeperServer): Promise<number> {
  const metrics = await server.ask('mntr');
  return Number(/^zk_sum_node_deleted_watch_count\s+(\d+)/m.exec(metrics)?.[1]);
}

async function watchesSet(server: ZooKeeperServer): Promise<string> {
  const [summary = ''] = (await server.ask('wchs')).split('\n');
  return summary.trim();
}

describe('a line of 200', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    return () => server.stop();
  });

  async function line(mode: 'write' | 'mutex') {
    const basePath = freshBasePath();
    const options = { connectString: server.connectString, basePath, waitMs: Infinity };
    const services = await Promise.all([openService(options), openService(options)]);
    const client = await openClient(server.connectString);
    const locks = services.map((service) => (mode === 'mutex' ? service.mutex('k') : service.readWriteLock('k').write));
    const lock = (place: number) => locks[place % 2] ?? expect.unreachable();
    const holder = await lock(0).acquire();
    const waits = Array.from({ length: WAITERS }, (_, place) => lock(place).using(() => {}));
    await untilContenders(client, `${basePath}/k`, WAITERS + 1);
    return { holder, waits, client, basePath };
  }

  it.each(['mutex', 'write'] as const)('wakes one waiter a release (%s)', async (mode) => {
    const { holder, waits } = await line(mode);
    const before = await watchesFiredByDeletions(server);

    await holder.release();
    await Promise.all(waits);

    expect((await watchesFiredByDeletions(server)) - before).toBe(WAITERS);
    expect(await watchesSet(server)).toMatch(/watching 0 paths$/);
  });

  it('leaves neither znode nor watch when all of them give up', async () => {
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath, waitMs: Infinity });
    const client = await openClient(server.connectString);
    const lease = await service.acquire('k');
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    onTestFinished(() => abort.abort());
    const waits = Array.from({ length: WAITERS }, () => service.acquire('k', { signal: abort.signal }));
    const settled = Promise.allSettled(waits);
    await untilContenders(client, `${basePath}/k`, WAITERS + 1);

    abort.abort(new Error('closing time'));

    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await untilContenders(client, `${basePath}/k`, 1)).toHaveLength(1);
    expect(await watchesSet(server)).toMatch(/watching 0 paths$/);
    await lease.release();
  });
});
