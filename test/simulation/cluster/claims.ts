import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulatedServers } from '../servers/simulated-servers.js';

// Claims are recorded in whole milliseconds of the process clocks, true times in microseconds.
const ROUNDING_MS = 0.01;
/** The signal is aborted by a timer. Even with a timer that is a little late, the holder must be notified in time. */
const LATE_TIMER_MS = 10;

/**
 * Compares what each session claims with what the servers guarantee. A session claims for how long it is surely its
 * own. The servers have an earliest moment at which they may end it. So a deadline that is too late is found even if it
 * had no consequence.
 */
export class Claims {
  readonly #servers: SimulatedServers;
  readonly #findings = new Map<string, Finding>();
  readonly #toldMs = new Map<bigint, number>();
  readonly #closedOnPurpose = new Set<bigint>();
  /** The smallest distance in milliseconds between a claim and the earliest end of its session. */
  smallestMarginMs = Infinity;
  count = 0;

  constructor(servers: SimulatedServers) {
    this.#servers = servers;
  }

  get findings(): Finding[] {
    return [...this.#findings.values()];
  }

  /** Exempts a session that was closed from outside: its client cannot know. */
  closedOnPurpose(session: bigint): void {
    this.#closedOnPurpose.add(session);
  }

  /** A server granted the client another session timeout. */
  told(session: bigint, timeoutMs: number): void {
    this.#toldMs.set(session, timeoutMs);
  }

  /** @param leftMs in true milliseconds */
  claimed(process: string, session: bigint, leftMs: number, atMs: number): void {
    if (leftMs <= 0 || this.#closedOnPurpose.has(session)) return;
    this.count++;
    const earliestMs = this.#servers.earliestEndMs(session, this.#toldMs.get(session)) ?? 0;
    const marginMs = earliestMs - leftMs;
    this.smallestMarginMs = Math.min(this.smallestMarginMs, marginMs);
    if (marginMs >= LATE_TIMER_MS - ROUNDING_MS || this.#findings.has(process)) return;
    const message =
      `${process} says at ${atMs} ms that its session is surely its own for ${leftMs.toFixed(1)} ms more, ` +
      `and the servers may end it in ${earliestMs.toFixed(1)} ms`;
    this.#findings.set(process, { check: 'claim', message, records: [{ session: session.toString(16) }] });
  }
}
