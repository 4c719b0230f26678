import { now } from '../async/clock.js';
import type { LinkedList } from '../async/collections.js';
import { settledWithin } from '../async/timer.js';
import { LockLostError, LockOverdueError, LockRevokedError, LockShutdownError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';

const MOST_NAMED = 10;

/** The log for leases. */
export interface LeaseLog {
  warn(message: string): void;
  error(message: string): void;
}

/** Called with leases that were lost together without anybody's wish, and with the reason. */
export type LossesListener = (leases: readonly GrantedLease[], reason: string) => void;

/** Leases that are lost together for one reason. */
interface LostTogether {
  readonly level: keyof LeaseLog;
  readonly reason: string;
  readonly leases: GrantedLease[];
}

/**
 * Logs lost leases with their reason: one log entry for all that are lost together. It is an error, unless somebody has
 * wanted the loss: a revocation, or `maxHeldMs`. A listener is told of errors alone. Leases that a shutdown ends are not
 * logged.
 */
export class LostLeases {
  readonly #log: LeaseLog;
  readonly #listener: LossesListener;
  #lost = new Map<string, LostTogether>();

  constructor(log: LeaseLog, listener: LossesListener) {
    this.#log = log;
    this.#listener = listener;
  }

  add(lease: GrantedLease, error: LockError): void {
    if (error instanceof LockShutdownError) return;
    const reason = error instanceof LockLostError ? error.reason : error.message;
    // A session loses all its leases in one turn, so one microtask collects them.
    if (this.#lost.size === 0) queueMicrotask(() => this.#tell());
    const level = isWanted(lease.signal.reason ?? error) ? 'warn' : 'error';
    const id = `${level} ${reason}`;
    const others = this.#lost.get(id);
    if (others) others.leases.push(lease);
    else this.#lost.set(id, { level, reason, leases: [lease] });
  }

  #tell(): void {
    const lost = this.#lost;
    this.#lost = new Map();
    for (const { level, reason, leases } of lost.values()) {
      this.#log[level](`lost ${leasesText(leases)}. Reason: ${reason}. Other processes may be granted these keys`);
      if (level === 'error') this.#listener(leases, reason);
    }
  }
}

/** Returns a text about leases for the log: their number, and some of them with key, label and start. */
function leasesText(leases: readonly GrantedLease[]): string {
  const named = leases.slice(0, MOST_NAMED).map(leaseText).join(', ');
  const more = leases.length - MOST_NAMED;
  return `${leases.length} ${leases.length === 1 ? 'lease' : 'leases'}: ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

function leaseText({ key, label, acquiredAt }: GrantedLease): string {
  return `"${key}" (${label === undefined ? '' : `${label}, `}held since ${acquiredAt.toISOString()})`;
}

/** Whether somebody has asked for the end of the lease. @param first the reason that its signal has aborted with first */
function isWanted(first: unknown): boolean {
  return first instanceof LockRevokedError || first instanceof LockOverdueError;
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
