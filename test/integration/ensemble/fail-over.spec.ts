import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Lease, LeaseState } from '../../../lib/contract/lease.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { FaultProxy } from '../../../lib/testing/index.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { LeaseChanges } from '../../support/lease-changes.js';
import { lost } from '../../support/lost.js';
import { closeService, openService } from '../../support/services.js';
import { openClient, untilContenders } from '../../support/znodes.js';
import { flood } from './flood.js';
import { ThreeServers } from './three-servers.js';

// A lease is kept where the client and two servers get their turns in time, also on a busy machine.
const SESSION_MS = 8_000;
const LIMIT_MS = 180_000;

/** A service that knows several servers, and to which of them it is connected, through which proxy. */
interface Roamer {
  readonly holder: LockService;
  readonly basePath: string;
  readonly server: EnsembleServer;
  readonly proxy: FaultProxy;
}

describe('while others are well', { timeout: LIMIT_MS }, () => {
  const three = new ThreeServers();

  /** Connected to one of `at`, which is one of `servers`, all of which it knows. */
  const roam = async (at: readonly EnsembleServer[], servers = at, basePath = freshBasePath()): Promise<Roamer> => {
    const proxies = await Promise.all(servers.map((server) => FaultProxy.open(server.port)));
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
    const connectString = proxies.map((proxy) => proxy.connectString).join(',');
    for (;;) {
      const holder = await openService({ connectString, basePath, sessionTimeoutMs: SESSION_MS });
      const place = proxies.findIndex((proxy) => proxy.connections > 0);
      const [server, proxy] = [servers[place]!, proxies[place]!];
      if (at.includes(server)) return { holder, basePath, server, proxy };
      await closeService(holder);
    }
  };

  type Fault = (roamer: Roamer) => Promise<void> | void;

  /** What a holder saw of the fault, and what it should have seen. */
  const whenFollower = async (fault: Fault) => {
    const roamer = await roam(await three.ensemble.followers());
    const lease = await roamer.holder.acquire('k');
    await pause(SESSION_MS);
    return { seen: await through(() => fault(roamer), lease), expected: kept(lease) };
  };

  it.each<[string, Fault]>([
    ['is frozen', ({ server }) => server.freeze()],
    ['is killed', ({ server }) => server.kill()],
  ])('a lease is kept when its follower %s', async (_, fault) => {
    const { seen, expected } = await whenFollower(fault);
    expect(seen).toEqual(expected);
  });

  it('a lease is kept when its follower can not be reached, or does not hear, or is not heard', async () => {
    // Of three holders at once: each has links of its own, and the servers are well.
    const directions = [undefined, 'toServer', 'toClient'] as const;
    const outcomes = await Promise.all(
      directions.map((direction) => whenFollower(({ proxy }) => proxy.blackHole(direction))),
    );
    expect(outcomes.map(({ seen }) => seen)).toEqual(outcomes.map(({ expected }) => expected));
  });

  it('a lease is kept when its leader is killed', async () => {
    const leader = await three.ensemble.leader();
    const { holder } = await roam([leader], three.ensemble.servers);
    const lease = await holder.acquire('k');
    expect(await through(() => leader.kill(), lease)).toEqual(kept(lease));
  });

  it('a lease is kept by one that receives all the time', async () => {
    const [one, other] = await three.ensemble.followers();
    const roamer = await roam([one!]);
    const lease = await roamer.holder.acquire('k');
    const received = await flood(roamer, other!);
    expect(await afterwards(lease)).toEqual(kept(lease).after);
    expect(received()).toBeGreaterThan(10);
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

  it('a waiter keeps its place when there is no quorum for longer than a session lasts', async () => {
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
    // By then the third has closed the connection without an answer for longer than a session lasts.
    await pause(2 * sessionTimeoutMs);
    expect(waiter.state).toBe('suspended');
    await Promise.all([one!.restart(), other!.restart()]);

    const next = await waiting;
    expect(waiter.state).toBe('connected');
    const client = await openClient(connectString);
    expect(await untilContenders(client, path, 1)).toEqual(before.slice(1));
    await next.release();
  });

  it('keys are granted again within two seconds of the end of a total outage', async () => {
    const { connectString } = three.ensemble;
    // The outage lasts for as long as three servers take to start.
    const connectTimeoutMs = LIMIT_MS;
    const service = await openService({ connectString, connectTimeoutMs, sessionTimeoutMs: 2_000 });
    const lease = await service.acquire('outage');
    await Promise.all(three.ensemble.servers.map((server) => server.kill()));
    await lost(lease);
    const waiting = service.acquire('outage', { waitMs: LIMIT_MS });
    const granted = waiting.then(() => performance.now());
    granted.catch(() => {});
    await Promise.all(three.ensemble.servers.map((server) => server.restart()));
    await three.ensemble.leader();
    const returnedAt = performance.now();
    // A service that has just begun has not waited for anything: it shows how slow the machine and the servers are.
    const fresh = await openService({ connectString, connectTimeoutMs, sessionTimeoutMs: SESSION_MS });
    await fresh.using('elsewhere', () => {});
    const slownessMs = performance.now() - returnedAt;
    const next = await waiting;
    expect((await granted) - returnedAt).toBeLessThan(2_000 + 3 * slownessMs);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });
});

/** What a holder saw of a fault that was cured in time. */
interface Seen {
  readonly heldMeanwhile: boolean;
  /** A lease that is held again was so before its session's time had run out: otherwise it is lost. */
  readonly changes: readonly LeaseState[];
  /** What became of the lease in longer than a session lasts without its owner. */
  readonly after: readonly [state: string, isHeld: boolean, token: bigint];
}

const kept = ({ fencingToken }: Lease): Seen => ({
  heldMeanwhile: true,
  changes: ['suspended', 'held'],
  after: ['held', true, fencingToken],
});

async function through(fault: () => Promise<void> | void, lease: Lease): Promise<Seen> {
  const changes = new LeaseChanges(lease);
  await fault();
  const { isHeld: heldMeanwhile } = await changes.first('suspended');
  await Promise.race([changes.first('held'), changes.first('lost')]);
  // It may have been suspended more than once: a server that is just back sends clients away.
  const seen = changes.states.slice(0, 2);
  return { heldMeanwhile, changes: seen, after: await afterwards(lease) };
}

async function afterwards(lease: Lease): Promise<Seen['after']> {
  await Promise.race([pause(2 * SESSION_MS), lost(lease)]);
  return [lease.state, lease.isHeld(), lease.fencingToken];
}
