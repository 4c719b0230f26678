import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Lease, LeaseState } from '../../../lib/contract/lease.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { FaultProxy } from '../../../lib/testing/index.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { LeaseChanges } from '../../support/lease-changes.js';
import { lost } from '../../support/lost.js';
import { closeService, openService } from '../../support/services.js';

// A lease is kept where the client and two servers get their turns in time, also on a busy machine.
export const SESSION_MS = 8_000;

/** A service that knows several servers, and to which of them it is connected, through which proxy. */
export interface Roamer {
  readonly holder: LockService;
  readonly basePath: string;
  readonly server: EnsembleServer;
  readonly proxy: FaultProxy;
}

/** Connected to one of `at`, which is one of `servers`, all of which it knows. */
export async function roam(at: readonly EnsembleServer[], servers = at, basePath = freshBasePath()): Promise<Roamer> {
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
}

export type Fault = (roamer: Roamer) => Promise<void> | void;

/** What a holder saw of the fault, and what it should have seen. */
export async function whenFollower(
  followers: readonly EnsembleServer[],
  fault: Fault,
): Promise<{ readonly seen: Seen; readonly expected: Seen }> {
  const roamer = await roam(followers);
  const lease = await roamer.holder.acquire('k');
  await pause(SESSION_MS);
  return { seen: await through(() => fault(roamer), lease), expected: kept(lease) };
}

/** What a holder saw of a fault that was cured in time. */
export interface Seen {
  readonly heldMeanwhile: boolean;
  /** A lease that is held again was so before its session's time had run out: otherwise it is lost. */
  readonly changes: readonly LeaseState[];
  /** What became of the lease in longer than a session lasts without its owner. */
  readonly after: readonly [state: string, isHeld: boolean, token: bigint];
}

export const kept = ({ fencingToken }: Lease): Seen => ({
  heldMeanwhile: true,
  changes: ['suspended', 'held'],
  after: ['held', true, fencingToken],
});

export async function through(fault: () => Promise<void> | void, lease: Lease): Promise<Seen> {
  const changes = new LeaseChanges(lease);
  await fault();
  const { isHeld: heldMeanwhile } = await changes.first('suspended');
  await Promise.race([changes.first('held'), changes.first('lost')]);
  // It may have been suspended more than once: a server that is just back sends clients away.
  const seen = changes.states.slice(0, 2);
  return { heldMeanwhile, changes: seen, after: await afterwards(lease) };
}

export async function afterwards(lease: Lease): Promise<Seen['after']> {
  await Promise.race([pause(2 * SESSION_MS), lost(lease)]);
  return [lease.state, lease.isHeld(), lease.fencingToken];
}
