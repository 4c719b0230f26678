import { orAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { CampaignRequest, Elections, Sighting, WonElection } from '../contract/elections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { Leader } from '../contract/leader.js';
import type { LockRequest } from '../contract/lock-request.js';

/** Stands in a line of this name. */
type StandIn = (request: LockRequest, line: string) => Promise<GrantedLease | null>;

/** The line of an election's candidates: no key has a character of this kind. */
export function electionLine(name: string): string {
  return `\0election ${name}`;
}

/** Elections inside one process. */
export class MemoryElections implements Elections {
  readonly #standIn: StandIn;
  readonly #leaders = new Map<string, Leader>();
  readonly #onChange = new Set<() => void>();

  constructor(standIn: StandIn) {
    this.#standIn = standIn;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    const { key, label, value } = request;
    const lease = await this.#standIn(request, electionLine(key));
    if (!lease) return null;
    this.#leads(key, leaderOf(lease, label, value));
    void lease.released.then(() => this.#ended(lease));
    const proclaim = async (proclaimed: string) => this.#leads(key, leaderOf(lease, label, proclaimed));
    return { lease, proclaim };
  }

  async look(name: string): Promise<Sighting> {
    const leader = this.#leaders.get(name) ?? null;
    return { leader, changed: (signal) => this.#untilNot(name, leader, signal) };
  }

  #leads(name: string, leader: Leader): void {
    this.#leaders.set(name, leader);
    this.#changed();
  }

  #ended({ key, fencingToken }: GrantedLease): void {
    if (this.#leaders.get(key)?.fencingToken !== fencingToken) return;
    this.#leaders.delete(key);
    this.#changed();
  }

  #changed(): void {
    this.#onChange.forEach((listener) => listener());
  }

  #untilNot(name: string, seen: Leader | null, signal: AbortSignal): Promise<void> {
    const change = deferred();
    const look = () => {
      if ((this.#leaders.get(name) ?? null) !== seen) change.resolve();
    };
    this.#onChange.add(look);
    look();
    return orAbort(change.promise, signal).finally(() => this.#onChange.delete(look));
  }
}

function leaderOf({ acquiredAt, fencingToken }: GrantedLease, label?: string, value?: string): Leader {
  const id = label ?? String(process.pid);
  return { id, owner: { pid: process.pid, label }, value, since: acquiredAt, fencingToken, isOwn: true };
}
