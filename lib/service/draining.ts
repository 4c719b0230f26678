import type { Roster } from '../async/roster.js';
import { now } from '../async/clock.js';
import { settledWithin } from '../async/timer.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { leasesText } from './lease-text.js';

const TOLD_EVERY_MS = 1_000;

/**
 * Waits until nothing is granted any more and all leases are given back, for at most `drainTimeoutMs`, and says once a
 * second which ones it waits for.
 * @param closed resolves when nothing is granted any more
 * @returns those that were not given back
 */
export async function drained(
  held: Roster<GrantedLease>,
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

/** Its holder has not given it back: not one whose release is on its way to the servers. */
function isInUse({ state }: GrantedLease): boolean {
  return state !== 'released';
}
