import type { CampaignRequest, Elections, Sighting, WonElection, Leader } from '../contract/elections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { LockRequest } from '../contract/lock-request.js';
import { MemoryCrowd } from './memory-contenders.js';

const ELECTION = '\0election ';

/** The functions of the backend that elections need. */
export interface MemoryGrounds {
  identify(name: string): string;
  /** Queues a request in the wait queue of this name. */
  standIn(line: string, request: LockRequest): Promise<GrantedLease | null>;
}

/** Elections inside one process. */
export class MemoryElections implements Elections {
  readonly #grounds: MemoryGrounds;
  readonly #leaders = new Map<string, Leader>();
  readonly #observers = new MemoryCrowd();

  constructor(grounds: MemoryGrounds) {
    this.#grounds = grounds;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    const { key, label, value } = request;
    const election = this.#grounds.identify(key);
    const lease = await this.#grounds.standIn(electionLine(election), request);
    if (!lease) return null;
    this.#leads(election, leaderOf(lease, label, value));
    void lease.released.then(() => this.#ended(election, lease));
    const proclaim = async (proclaimed: string) => this.#leads(election, leaderOf(lease, label, proclaimed));
    return { lease, proclaim };
  }

  async look(name: string): Promise<Sighting> {
    const election = this.#grounds.identify(name);
    const leader = this.#leaders.get(election) ?? null;
    return { leader, changed: (signal) => this.#untilNot(election, leader, signal) };
  }

  #leads(election: string, leader: Leader): void {
    this.#leaders.set(election, leader);
    this.#observers.look();
  }

  #ended(election: string, { fencingToken }: GrantedLease): void {
    if (this.#leaders.get(election)?.fencingToken !== fencingToken) return;
    this.#leaders.delete(election);
    this.#observers.look();
  }

  #untilNot(election: string, seen: Leader | null, signal: AbortSignal): Promise<void> {
    return this.#observers.until(() => (this.#leaders.get(election) ?? null) !== seen, signal);
  }
}

/** Returns the name of the wait queue of an election's candidates. No key contains such a character. */
export function electionLine(election: string): string {
  return ELECTION + election;
}

/** Returns the election whose candidates are in the wait queue of this name; `undefined` for all other wait queues. */
export function electionOfLine(line: string): string | undefined {
  return line.startsWith(ELECTION) ? line.slice(ELECTION.length) : undefined;
}

function leaderOf({ acquiredAt, fencingToken }: GrantedLease, label?: string, value?: string): Leader {
  const id = label ?? String(process.pid);
  return { id, owner: { pid: process.pid, label }, value, since: acquiredAt, fencingToken, isOwn: true };
}
