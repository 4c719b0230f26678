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

// Long enough that the client and two servers are scheduled in time, also on a busy machine. The lease is then kept.
export const SESSION_MS = 8_000;

/** A service that knows several servers, the server that it is connected to, and the proxy in between. */
export interface Roamer {
  readonly holder: LockService;
  readonly basePath: string;
  readonly server: EnsembleServer;
  readonly proxy: FaultProxy;
}

/** Opens a service that is connected to one of `at`, a subset of `servers`, and that knows all of `servers`. */
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

/** Resolves with what a holder saw of the fault, and with what it should have seen. */
export async function whenFollower(
  followers: readonly EnsembleServer[],
  fault: Fault,
): Promise<{ readonly seen: Seen; readonly expected: Seen }> {
  const roamer = await roam(followers);
  const lease = await roamer.holder.acquire('k');
  await pause(SESSION_MS);
  return { seen: await through(() => fault(roamer), lease), expected: kept(lease) };
}

/** The observations of a holder during a fault that ended in time. */
export interface Seen {
  readonly heldMeanwhile: boolean;
  /** The states of the lease. It is held again before its session's time has run out, or it is lost. */
  readonly changes: readonly LeaseState[];
  /** The state of the lease after a time in which a session without its owner would have expired. */
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
  // It may have been suspended more than once, because a server that has just recovered refuses clients.
  const seen = changes.states.slice(0, 2);
  return { heldMeanwhile, changes: seen, after: await afterwards(lease) };
}

export async function afterwards(lease: Lease): Promise<Seen['after']> {
  await Promise.race([pause(2 * SESSION_MS), lost(lease)]);
  return [lease.state, lease.isHeld(), lease.fencingToken];
}
