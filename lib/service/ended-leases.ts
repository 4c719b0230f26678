import { now } from '../async/clock.js';
import type { LinkedList } from '../async/collections.js';
import { settledWithin } from '../async/timer.js';
import { LockLostError, LockShutdownError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { leasesText } from './lease-text.js';

/**
 * Logs lost leases with their reason: one log entry for all that are lost together. Leases that a shutdown ends are not
 * logged.
 */
export class LostLeases {
  readonly #warn: (message: string) => void;
  #lost = new Map<string, GrantedLease[]>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(lease: GrantedLease, error: LockError): void {
    if (error instanceof LockShutdownError) return;
    const reason = error instanceof LockLostError ? error.reason : error.message;
    // A session loses all its leases in one turn, so one microtask collects them.
    if (this.#lost.size === 0) queueMicrotask(() => this.#tell());
    const others = this.#lost.get(reason);
    if (others) others.push(lease);
    else this.#lost.set(reason, [lease]);
  }

  #tell(): void {
    const lost = this.#lost;
    this.#lost = new Map();
    for (const [reason, leases] of lost) {
      this.#warn(`lost ${leasesText(leases)}. Reason: ${reason}. Other processes may be granted these keys`);
    }
  }
}

const TOLD_EVERY_MS = 1_000;

/**
 * Waits until nothing is granted any more and all leases are released, for at most `drainTimeoutMs`. Logs once a second
 * which leases it waits for.
 * @param closed resolves when nothing is granted any more
 * @returns the leases that were not released
 */
export async function drained(
  held: LinkedList<GrantedLease>,
  drainTimeoutMs: number,
  closed: Promise<void>,
  warn: (message: string) => void,
): Promise<readonly GrantedLease[]> {
  const end = now() + drainTimeoutMs;
  const telling = setInterval(() => {
    const leftMs = Math.max(0, end - now());
    const most = leftMs === Infinity ? '' : `. At most ${Math.ceil(leftMs / 1_000)} s more (drainTimeoutMs)`;
    const inUse = held.members.filter(isInUse);
    if (inUse.length > 0) warn(`app.close() waits for ${leasesText(inUse)}${most}`);
  }, TOLD_EVERY_MS);
  const givenBack = closed.then(() => Promise.all(held.members.map((lease) => lease.released)));
  await settledWithin(givenBack, drainTimeoutMs);
  clearInterval(telling);
  const overdue = held.members;
  const takenAway = overdue.filter(isInUse);
  if (takenAway.length > 0) {
    const within = `not given back within ${drainTimeoutMs} ms (drainTimeoutMs)`;
    warn(`app.close() has taken away ${leasesText(takenAway)}; ${within}. Their work may still run`);
  }
  return overdue;
}

/** Whether the holder has not released the lease. A lease whose release is being sent to the servers does not count. */
function isInUse({ state }: GrantedLease): boolean {
  return state !== 'released';
}
