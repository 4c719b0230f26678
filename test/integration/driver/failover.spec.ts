import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { LeaseChanges } from '../../support/lease-changes.js';
import { openService } from '../../support/services.js';
import { lost, untilState } from './support/leases.js';
import { inUse, openProxies } from './support/open-proxy.js';
import { serverLists } from './support/outside.js';

const target = inject('zookeeper');

describe('a session whose server is frozen', () => {
  it('moves to another server in time, with its lease', async () => {
    const { proxies, connectString } = await openProxies(target);
    const basePath = freshBasePath();
    const service = await openService({ connectString, basePath, sessionTimeoutMs: 6_000 });
    const lease = await service.acquire('k');
    const before = await serverLists(target, `${basePath}/k`);
    const { used, spare } = inUse(proxies);

    used.blackHole();
    await eventually(() => spare.accepted === 1 || undefined, 'another server');
    await untilState(lease, 'held');

    expect([lease.isHeld(), used.accepted]).toEqual([true, 1]);
    expect(await serverLists(target, `${basePath}/k`)).toEqual(before);
    await service.using('another', () => {});
  });
});

describe('a session whose next server accepts the connection but never answers', () => {
  it('moves on to the server after it, with its lease', async () => {
    const { proxies, connectString } = await openProxies(target);
    const service = await openService({ connectString, basePath: freshBasePath(), sessionTimeoutMs: 6_000 });
    const lease = await service.acquire('k');
    const { used, spare } = inUse(proxies);

    const changes = new LeaseChanges(lease);
    spare.blackHole();
    used.disconnect();
    await changes.first('suspended');
    await changes.first('held');

    expect([lease.isHeld(), spare.accepted, used.accepted]).toEqual([true, 1, 2]);
  });

  it('does not wait longer for a server that sends single bytes', async () => {
    const { proxies, connectString } = await openProxies(target);
    const service = await openService({ connectString, basePath: freshBasePath(), sessionTimeoutMs: 6_000 });
    const lease = await service.acquire('k');
    const { used, spare } = inUse(proxies);

    const changes = new LeaseChanges(lease);
    spare.throttle(5);
    used.disconnect();
    await changes.first('suspended');
    await changes.first('held');

    expect([lease.isHeld(), spare.accepted, used.accepted]).toEqual([true, 1, 2]);
  });

  it('fails in time when there is no other server, and reports why', async () => {
    const { proxies } = await openProxies(target);
    const [hung] = proxies;
    hung!.blackHole();
    const opening = openService({
      connectString: hung!.connectString,
      sessionTimeoutMs: 4_000,
      connectTimeoutMs: 1_500,
    });
    await expect(opening).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      message: expect.stringMatching(/did not accept the session in time/),
    });
    expect(hung!.accepted).toBeGreaterThanOrEqual(2);
  });
});

describe('a session all of whose servers are frozen', () => {
  it('loses its lease on its own clock and finds the first server that recovers', async () => {
    const { proxies, connectString } = await openProxies(target);
    const service = await openService({ connectString, basePath: freshBasePath(), sessionTimeoutMs: 1_000 });
    const lease = await service.acquire('k');
    proxies.forEach((proxy) => proxy.blackHole());
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST' });
    proxies[0]!.heal();
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });
});
