import { setMaxListeners } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Lease } from '../../lib/contract/lease.js';
import { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const WAITERS = 200;
const SERVICES = 4;

/** The watches that deletions fired on the whole server. Only this test uses the server. */
async function watchesFiredByDeletions(server: ZooKeeperServer): Promise<number> {
  const metrics = await server.ask('mntr');
  return Number(/^zk_sum_node_deleted_watch_count\s+(\d+)/m.exec(metrics)?.[1]);
}

/** The number of watches that the server keeps. */
async function watchesKept(server: ZooKeeperServer): Promise<number> {
  return Number(/Total watches:(\d+)/.exec(await server.ask('wchs'))?.[1]);
}

describe('a wait queue of 200', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    return () => server.stop();
  });

  /** Builds a wait queue with contenders of many services in turn, so that no predecessor is of the same session. */
  async function line(mode: 'write' | 'mutex' | 'election') {
    const basePath = freshBasePath();
    const options = { connectString: server.connectString, basePath, waitMs: Infinity };
    const services = await Promise.all(Array.from({ length: SERVICES }, () => openService(options)));
    const client = await openClient(server.connectString);
    const take = services.map((service) => () => {
      if (mode === 'election') return new LeaderElectionService(service).campaign('k');
      return (mode === 'mutex' ? service.mutex('k') : service.readWriteLock('k').write).acquire();
    });
    const enter = (place: number): Promise<Lease> => (take[place % SERVICES] ?? expect.unreachable())();
    const holder = await enter(0);
    const waits: Promise<void>[] = [];
    for (let place = 1; place <= WAITERS; place++) {
      waits.push(enter(place).then((lease) => lease.release()));
      await untilContenders(client, `${basePath}/${mode === 'election' ? '%elections/test%2Fk' : 'k'}`, place + 1);
    }
    return { holder, waits, client, basePath };
  }

  it.each(['mutex', 'write', 'election'] as const)(
    'notifies two of a release: the next contender and the one behind it (%s)',
    async (mode) => {
      const { holder, waits } = await line(mode);
      const before = await watchesFiredByDeletions(server);

      await holder.release();
      await Promise.all(waits);

      // Three are notified: the next contender, the one behind it, which looks ahead, and the owner itself.
      const fired = (await watchesFiredByDeletions(server)) - before;
      expect(fired).toBeGreaterThan(2.5 * WAITERS);
      expect(fired).toBeLessThanOrEqual(3 * WAITERS);
      expect(await watchesKept(server)).toBe(0);
    },
  );

  it('leaves neither znode nor watch when all contenders give up', async () => {
    const basePath = freshBasePath();
    const options = { connectString: server.connectString, basePath, waitMs: Infinity };
    const [holder, service] = await Promise.all([openService(options), openService(options)]);
    const client = await openClient(server.connectString);
    const lease = await holder.acquire('k');
    // The watch of the lease on its own znode.
    const isOnlyTheLease = async () => (await watchesKept(server)) === 1 || undefined;
    await eventually(isOnlyTheLease, 'the lease is watched');
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    onTestFinished(() => abort.abort());
    const waits = Array.from({ length: WAITERS }, () => service.acquire('k', { signal: abort.signal }));
    const settled = Promise.allSettled(waits);
    await untilContenders(client, `${basePath}/k`, WAITERS + 1);

    abort.abort(new Error('closing time'));

    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await untilContenders(client, `${basePath}/k`, 1)).toHaveLength(1);
    await eventually(isOnlyTheLease, 'no waiter watches');
    await lease.release();
    expect(await watchesKept(server)).toBe(0);
  });
});
