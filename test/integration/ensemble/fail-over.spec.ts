import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { LeaseChanges } from '../../support/lease-changes.js';
import { lost } from '../../support/lost.js';
import { openService } from '../../support/services.js';
import { openClient, untilContenders } from '../../support/znodes.js';
import { kept, roam, SESSION_MS, through, whenFollower } from './roaming-holder.js';
import { ThreeServers } from './three-servers.js';

const LIMIT_MS = 180_000;

describe('while other servers are available', { timeout: LIMIT_MS }, () => {
  const three = new ThreeServers();

  it('a lease is kept when its follower is killed', async () => {
    const { seen, expected } = await whenFollower(await three.ensemble.followers(), ({ server }) => server.kill());
    expect(seen).toEqual(expected);
  });

  it('a lease is kept when its leader is killed', async () => {
    const leader = await three.ensemble.leader();
    const { holder } = await roam([leader], three.ensemble.servers);
    const lease = await holder.acquire('k');
    expect(await through(() => leader.kill(), lease)).toEqual(kept(lease));
  });

  it('a waiter keeps its place when its server is killed', async () => {
    const [one, other] = await three.ensemble.followers();
    const basePath = freshBasePath();
    const path = `${basePath}/k`;
    const holder = await openService({ connectString: other!.connectString, basePath, sessionTimeoutMs: SESSION_MS });
    const lease = await holder.acquire('k');
    const client = await openClient(other!.connectString);
    const { holder: service, server } = await roam([one!], [one!, other!], basePath);
    const waiting = service.acquire('k');
    waiting.catch(() => {});
    const before = await untilContenders(client, path, 2);
    const last = holder.acquire('k');
    last.catch(() => {});
    await untilContenders(client, path, 3);

    const changes = new LeaseChanges(await service.acquire('of the same session'));
    await server.kill();
    await changes.first('suspended');
    await changes.first('held');

    expect((await untilContenders(client, path, 3)).slice(0, 2)).toEqual(before);
    await lease.release();
    const next = await waiting;
    expect(next.isHeld()).toBe(true);
    await next.release();
    await (await last).release();
  });

  it('a waiter keeps its place without a quorum for longer than its session timeout', async () => {
    const basePath = freshBasePath();
    const path = `${basePath}/k`;
    const { connectString, servers } = three.ensemble;
    const sessionTimeoutMs = 2_000;
    const options = { connectString, basePath, sessionTimeoutMs };
    const [holder, waiter] = await Promise.all([openService(options), openService(options)]);
    const lease = await holder.acquire('k');
    const waiting = waiter.acquire('k', { waitMs: LIMIT_MS });
    const before = await untilContenders(await openClient(connectString), path, 2);

    const [one, other] = servers;
    await Promise.all([one!.kill(), other!.kill()]);
    await lost(lease);
    // By then the third server has been closing connections without an answer for longer than a session lasts.
    await pause(2 * sessionTimeoutMs);
    // Leases would be lost by now. The session goes on when servers have a leader again.
    expect(waiter.state).toBe('lost');
    await Promise.all([one!.restart(), other!.restart()]);

    const next = await waiting;
    expect(waiter.state).toBe('connected');
    const client = await openClient(connectString);
    expect(await untilContenders(client, path, 1)).toEqual(before.slice(1));
    await next.release();
  });

  it('keys are granted again within two seconds after a total outage', async () => {
    const { connectString } = three.ensemble;
    // The outage lasts as long as three servers take to start.
    const connectTimeoutMs = LIMIT_MS;
    const service = await openService({ connectString, connectTimeoutMs, sessionTimeoutMs: 2_000 });
    const lease = await service.acquire('outage');
    await Promise.all(three.ensemble.servers.map((server) => server.kill()));
    await lost(lease);
    const waiting = service.acquire('outage', { waitMs: LIMIT_MS });
    const outcome = { isSettled: false };
    const granted = waiting.then(() => performance.now()).finally(() => (outcome.isSettled = true));
    granted.catch(() => {});
    await Promise.all(three.ensemble.servers.map((server) => server.restart()));
    await three.ensemble.leader();
    const returnedAt = performance.now();
    // A new service did not have to wait for a reconnect. Its slowest call shows how slow the machine and the servers are.
    const fresh = await openService({ connectString, connectTimeoutMs, sessionTimeoutMs: SESSION_MS });
    let [slownessMs, since] = [0, returnedAt];
    do {
      await fresh.using('elsewhere', () => {});
      slownessMs = Math.max(slownessMs, performance.now() - since);
      since = performance.now();
    } while (!outcome.isSettled);
    const next = await waiting;
    expect((await granted) - returnedAt).toBeLessThan(2_000 + 3 * slownessMs);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });
});
