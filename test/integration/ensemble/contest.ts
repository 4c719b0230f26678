import { onTestFinished } from 'vitest';
import type { Lease } from '../../../lib/contract/lease.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import type { ZooKeeperClient } from '../../../lib/zookeeper/client/zookeeper-client.js';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { openClient, untilContenders } from '../../support/znodes.js';

/** Four ticks of 500 ms: the shortest for which the lease clock is sure. */
export const SESSION_MS = 2_000;

interface Place {
  readonly connectString: string;
}

/** The connections of the three parties. */
export interface Places {
  readonly holder: Place;
  readonly contender: Place;
  /** The connection of the observer, to a server that the fault does not affect. */
  readonly observer: Place;
}

/** A holder of a key, a waiter for it, and an observer that watches the holder's znode. */
export interface Contest {
  readonly basePath: string;
  readonly holder: LockService;
  readonly lease: Lease;
  readonly waiting: Promise<Lease>;
  /** The time at which the observer's server reported the deletion of the holder's znode. */
  readonly removed: Promise<number>;
}

export async function contest({ holder: at, contender: other, observer }: Places): Promise<Contest> {
  const basePath = freshBasePath();
  const options = { basePath, sessionTimeoutMs: SESSION_MS, waitMs: 30_000 };
  const [holder, contender, client] = await Promise.all([
    openService({ ...options, connectString: at.connectString }),
    openService({ ...options, connectString: other.connectString }),
    openClient(observer.connectString),
  ]);
  const lease = await holder.acquire('k');
  const waiting = contender.acquire('k');
  waiting.catch(() => {});
  const [first] = await untilContenders(client, `${basePath}/k`, 2);
  keepAlive(client);
  const { fired } = await client.watch(`${basePath}/k/${first}`);
  return { basePath, holder, lease, waiting, removed: fired.then(() => performance.now()) };
}

/** The outcome of a contest. */
export interface HandOver {
  /** For how long two parties believed that they held the key. */
  readonly overlapMs: number;
  /** Whether the holder knew before an observer was notified that its znode was gone. */
  readonly wasAhead: boolean;
  /** Whether the holder lost the lease rather than released it. */
  readonly wasLost: boolean;
}

/** The outcome of a contest whose holder lost its lease in time. */
export const SAFE: HandOver = { overlapMs: 0, wasAhead: true, wasLost: true };

/**
 * Waits for the end of a contest. A holder that has kept its lease for `keepMs` releases it. All times are of one
 * clock.
 */
export async function handOver({ lease, waiting, removed }: Contest, keepMs = 20_000): Promise<HandOver> {
  const ended = endOf(lease);
  const giveBack = setTimeout(() => void lease.release(), keepMs);
  const next = await waiting;
  const grantedAt = performance.now();
  // Checked in this very turn, because the new holder may start its work in the next one.
  const isStillHeld = lease.isHeld();
  const endedAt = await ended;
  clearTimeout(giveBack);
  if (next.fencingToken <= lease.fencingToken) throw new Error('the fencing token has not grown');
  await next.release();
  const overlapMs = isStillHeld ? performance.now() - grantedAt : Math.max(0, endedAt - grantedAt);
  return { overlapMs, wasAhead: endedAt <= (await removed), wasLost: lease.state === 'lost' };
}

/** Resolves with the time at which the holder stops to believe, by polling and by the lease's signal. */
export function endOf(lease: Lease): Promise<number> {
  return new Promise((resolve) => {
    const end = () => {
      clearInterval(asking);
      resolve(performance.now());
    };
    const asking = setInterval(() => lease.isHeld() || end(), 1);
    lease.signal.addEventListener('abort', end);
    onTestFinished(() => clearInterval(asking));
  });
}

/** Pings regularly. A bare client sends nothing by itself, and its session would expire. */
export function keepAlive(client: ZooKeeperClient): void {
  const pinging = setInterval(() => client.ping(), SESSION_MS / 4);
  onTestFinished(() => clearInterval(pinging));
}
