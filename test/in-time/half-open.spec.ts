import { describe, expect, inject, it } from 'vitest';
import { lost, untilState } from '../integration/driver/support/leases.js';
import { openProxy } from '../integration/driver/support/open-proxy.js';
import { serverLists } from '../integration/driver/support/outside.js';
import { freshBasePath } from '../support/base-path.js';
import { LeaseChanges } from '../support/lease-changes.js';
import { openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const target = inject('zookeeper');
const SESSION_MS = 1_000;

/** A lease of a service behind a proxy, and a second contender with a direct connection. */
async function leased(sessionTimeoutMs: number) {
  const basePath = freshBasePath();
  const proxy = await openProxy(target);
  const open = (connectString: string) => openService({ connectString, basePath, sessionTimeoutMs, waitMs: 30_000 });
  const [service, rival] = await Promise.all([open(proxy.connectString), open(target)]);
  const lease = await service.acquire('k');
  return { proxy, service, rival, lease, path: `${basePath}/k` };
}

describe('a lease on a half-open connection', () => {
  it.each(['toClient', 'toServer', undefined] as const)(
    'is suspended, and lost before the server grants it to another: %s',
    async (direction) => {
      // Long enough that the process notices overdue replies before the session timeout, also on a busy machine.
      const { proxy, lease, rival } = await leased(3 * SESSION_MS);
      const changes = new LeaseChanges(lease);
      let wasLostFirst = false;
      const losing = lost(lease).then((reason) => {
        wasLostFirst = true;
        return reason;
      });
      proxy.blackHole(direction);
      // A new connection fails as well, as if one direction were lost.
      proxy.refuse();
      const waiting = rival.acquire('k').then((granted) => ({ granted, wasLostFirst, isHeld: lease.isHeld() }));

      await changes.first('suspended');
      expect(await losing).toMatchObject({ code: 'LOCK_LOST' });
      const { granted, ...then } = await waiting;

      expect(then).toEqual({ wasLostFirst: true, isHeld: false });
      expect(granted.fencingToken).toBeGreaterThan(lease.fencingToken);
      await lease.release();
    },
  );

  it('is kept when the network recovers in time', async () => {
    const { proxy, lease, path } = await leased(8_000);
    const before = await serverLists(target, path);
    proxy.blackHole();
    await untilState(lease, 'suspended');
    expect(lease.isHeld()).toBe(true);

    proxy.heal();
    await untilState(lease, 'held');

    expect(lease.isHeld()).toBe(true);
    expect(await serverLists(target, path)).toEqual(before);
  });

  it('can be acquired again by the same service when the network recovers', async () => {
    const { proxy, service, lease, path } = await leased(SESSION_MS);
    proxy.blackHole();
    const waiting = service.acquire('another');
    await lost(lease);
    proxy.heal();

    const next = await service.acquire('k');

    expect(next.isHeld()).toBe(true);
    expect((await waiting).isHeld()).toBe(true);
    await untilContenders(await openClient(target), path, 1);
  });
});

// The slowness of the link is what these tests are about, so replies are late in real time.
describe('a link that is only slow', () => {
  it('is not abandoned', async () => {
    const { proxy, lease, service } = await leased(8_000);
    const before = proxy.accepted;
    proxy.delay(200);
    for (const key of ['a', 'b', 'c']) await service.using(key, () => {});
    expect([lease.state, lease.isHeld(), proxy.accepted]).toEqual(['held', true, before]);
  });

  it('is not abandoned when its bandwidth is small', async () => {
    const { proxy, lease, service } = await leased(8_000);
    const before = proxy.accepted;
    proxy.throttle(2_000);
    await service.using('another', () => {});
    expect([lease.state, lease.isHeld(), proxy.accepted]).toEqual(['held', true, before]);
  });
});
