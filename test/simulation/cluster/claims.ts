import type { Finding } from '../../robustness/validate/finding.js';
import type { SimulatedServers } from '../servers/simulated-servers.js';

// A claim is taken down in whole milliseconds of clocks, and true ones in microseconds.
const ROUNDING_MS = 0.01;
/** The signal goes by a timer: when that is a little late, the holder still has to be in time. */
const LATE_TIMER_MS = 10;

/**
 * Compares what each session says of itself, for how long what it has is surely its own, with the earliest moment at which the
 * servers may give that away. So a deadline that is too late is seen although nothing came of it.
 */
export class Claims {
  readonly #servers: SimulatedServers;
  readonly #findings = new Map<string, Finding>();
  readonly #toldMs = new Map<bigint, number>();
  readonly #closedOnPurpose = new Set<bigint>();
  /** The smallest distance between a claim and what it may be, as a share of nothing: in milliseconds. */
  smallestMarginMs = Infinity;
  count = 0;

  constructor(servers: SimulatedServers) {
    this.#servers = servers;
  }

  get findings(): Finding[] {
    return [...this.#findings.values()];
  }

  /** Nobody can know of this: the session is excused. */
  closedOnPurpose(session: bigint): void {
    this.#closedOnPurpose.add(session);
  }

  /** The client was told another session timeout. */
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
