import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import type { LockService } from '../../lib/service/lock.service.js';
import { FaultProxy } from '../../lib/testing/index.js';
import { NodeZooKeeperClient } from '../../lib/zookeeper/client/node-zookeeper-client.js';
import { CreateMode } from '../../lib/zookeeper/client/zookeeper-client.js';
import type { ZooKeeperClient } from '../../lib/zookeeper/client/zookeeper-client.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient, untilContenders, untilWatched } from '../support/znodes.js';

const connectString = inject('zookeeper');
const ACL = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
// A release that is not answered in time goes on in the background, and the next contender is not known to follow it.
const RELEASE_MS = 30_000;
// The acquisitions of a key until its directory is watched. One more is needed to follow it.
const UNTIL_WATCHED = 5;

async function proxied(): Promise<FaultProxy> {
  const proxy = await FaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  return proxy;
}

/** A service that has acquired a key so often that it no longer lists it, and a client from outside. */
async function familiar(address = connectString) {
  const basePath = freshBasePath();
  const path = `${basePath}/k`;
  const [service, client] = [
    await openService({ connectString: address, basePath, parents: 'persistent', releaseTimeoutMs: RELEASE_MS }),
    await openClient(connectString),
  ];
  await use(service, UNTIL_WATCHED);
  await untilWatched(connectString, path);
  await use(service, 2);
  return { basePath, path, service, client };
}

async function use(service: LockService, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await service.using('k', () => {});
}

/** Recreates the directory, and uses its sequence numbers again up to `last`. The last one stays. */
async function startAgain(client: ZooKeeperClient, path: string, last: number): Promise<void> {
  await client.delete(path);
  await client.create({ path, data: Buffer.alloc(0), acl: ACL, mode: CreateMode.persistent });
  const name = `${path}/_c_6ee2a0b7-2e3d-4ef8-9a83-3a4c5a0c6f1e-lock-`;
  for (let number = 0; number <= last; number++) {
    const mode = CreateMode.ephemeralSequential;
    const made = await client.create({ path: name, data: Buffer.alloc(0), acl: ACL, mode });
    if (number < last) await client.delete(made.path);
  }
}

/** The sequence number of the service's last contender. */
async function numberNow(service: LockService, client: ZooKeeperClient, path: string): Promise<number> {
  return service.using('k', async () => Number((await contendersAt(client, path))[0]?.slice(-10)));
}

describe('a key that one process acquires repeatedly', () => {
  let lists: { readonly mock: { readonly calls: readonly unknown[] }; mockClear(): void };

  beforeEach(() => {
    lists = vi.spyOn(NodeZooKeeperClient.prototype, 'children');
    onTestFinished(() => void vi.restoreAllMocks());
  });

  it('is no longer listed', async () => {
    const { service } = await familiar();
    lists.mockClear();
    await use(service, 5);
    expect(await service.tryAcquire('k')).not.toBeNull();
    expect(lists.mock.calls).toEqual([]);
  });

  it('is no longer listed if it is a writer’s', async () => {
    const service = await openService({ connectString, basePath: freshBasePath(), parents: 'persistent' });
    const write = () => service.readWriteLock('k').write.using(() => {});
    const counts = async () => {
      lists.mockClear();
      await write();
      return lists.mock.calls.length === 0;
    };
    await eventually(counts, 'a writer lists nothing');
    expect(await counts()).toBe(true);
  });

  it('is listed again after another contender, and then no longer', async () => {
    const { basePath, service } = await familiar();
    const other = await openService({ connectString, basePath });
    await use(other, 1);
    lists.mockClear();
    await use(service, 1);
    expect(lists.mock.calls).toHaveLength(1);
    await use(service, 4);
    lists.mockClear();
    await use(service, 3);
    expect(lists.mock.calls).toEqual([]);
  });

  it('is not granted while another contender holds it', async () => {
    const { basePath, service, client, path } = await familiar();
    const other = await openService({ connectString, basePath });
    const holder = await other.acquire('k');
    expect(await service.tryAcquire('k')).toBeNull();
    const waiting = service.acquire('k');
    await untilContenders(client, path, 2);
    await holder.release();
    expect((await waiting).fencingToken).toBeGreaterThan(holder.fencingToken);
  });

  it('is not granted while its holder’s number does not come from the directory', async () => {
    const { service, client, path } = await familiar();
    const number = (await numberNow(service, client, path)) + 6;
    const name = `_c_6ee2a0b7-2e3d-4ef8-9a83-3a4c5a0c6f1e-lock-${String(number).padStart(10, '0')}`;
    await client.create({ path: `${path}/${name}`, data: Buffer.alloc(0), acl: ACL, mode: CreateMode.ephemeral });
    const granted: unknown[] = [];
    for (let time = 0; time < 12; time++) {
      const lease = await service.tryAcquire('k');
      granted.push(lease !== null);
      await lease?.release();
    }
    // The directory's next number is one more than the last one, and one number is lost to the other znode.
    expect(granted).toEqual(Array.from({ length: 12 }, (_, time) => time < 4));
  });

  it('is not granted to two callers of the process at once', async () => {
    const { service } = await familiar();
    let inside = 0;
    const most = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.using('k', async () => {
          inside++;
          await new Promise(setImmediate);
          return inside--;
        }),
      ),
    );
    expect(most).toEqual(Array.from({ length: 20 }, () => 1));
  });

  it('is not granted when its directory was recreated with the same numbers', async () => {
    const { service, client, path } = await familiar();
    await startAgain(client, path, await numberNow(service, client, path));
    expect(await service.tryAcquire('k')).toBeNull();
  });

  it('is not granted when that happened during a connection loss', async () => {
    const proxy = await proxied();
    const { service, client, path } = await familiar(proxy.connectString);
    const number = await numberNow(service, client, path);
    proxy.refuse();
    proxy.disconnect();
    await eventually(() => service.state !== 'connected', 'the connection is lost');
    await startAgain(client, path, number);
    proxy.heal();
    expect(await service.tryAcquire('k', { waitMs: 0 })).toBeNull();
  });

  it('is watched again after its directory was recreated', async () => {
    const { service, client, path } = await familiar();
    await client.delete(path);
    await use(service, UNTIL_WATCHED);
    await untilWatched(connectString, path);
    await use(service, 2);
    lists.mockClear();
    await use(service, 1);
    expect(lists.mock.calls).toEqual([]);
  });
});
