import { pause } from '../../../lib/async/timer.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { requestFor } from './clients.js';

const INSIDE_MS = 5;

/**
 * Clients that acquire and release one key again and again, until the signal aborts. At each grant it is noted whether
 * another client believes that it holds the key, and whether the token has grown.
 */
export class Traffic {
  /** The faults that were seen. */
  readonly faults: string[] = [];
  /** The number of grants of each client. */
  readonly grants: number[];
  readonly #key: string;
  readonly #held = new Set<GrantedLease>();
  #lastToken = 0n;

  constructor(key: string, clients: number) {
    this.#key = key;
    this.grants = Array.from({ length: clients }, () => 0);
  }

  /** Runs all clients. Resolves when all have ended. */
  async run(clients: readonly LockBackend[], signal: AbortSignal): Promise<void> {
    await Promise.all(clients.map((client, place) => this.#loop(client, place, signal)));
  }

  async #loop(client: LockBackend, place: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // A server may be out of reach for longer than a request looks for one.
      const lease = await client.acquire(requestFor(this.#key, { signal })).catch(() => null);
      if (lease) await this.#inside(lease, place);
    }
  }

  async #inside(lease: GrantedLease, place: number): Promise<void> {
    const { fencingToken } = lease;
    if (!lease.isHeld()) return lease.release();
    if ([...this.#held].some((other) => other.isHeld())) this.faults.push(`two holders, at token ${fencingToken}`);
    if (fencingToken <= this.#lastToken) this.faults.push(`token ${fencingToken} after ${this.#lastToken}`);
    this.#lastToken = fencingToken;
    this.#held.add(lease);
    await pause(INSIDE_MS, new AbortController().signal);
    this.#held.delete(lease);
    if (lease.isHeld()) this.grants[place] = (this.grants[place] ?? 0) + 1;
    await lease.release();
  }
}
