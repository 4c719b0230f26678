import type { CampaignRequest, Elections, Sighting, WonElection, Leader } from '../../contract/elections.js';

/** The access of elections to the scripted conditions. */
interface Surroundings {
  /** @throws the reason why the servers cannot be reached */
  assertReachable(): void;
  /** Returns the application's name for a key. */
  nameOf(key: string): string;
  /** Adds another contender as the leader, if the test wants one and there is no leader. */
  contend(name: string): Promise<void>;
  isOther(request: CampaignRequest): boolean;
}

/** Elections under the conditions that a test scripts. */
export class ScriptedElections implements Elections {
  readonly #inner: Elections;
  readonly #world: Surroundings;
  readonly #others = new Set<bigint>();

  constructor(inner: Elections, world: Surroundings) {
    this.#inner = inner;
    this.#world = world;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    if (this.#world.isOther(request)) return this.#lead(await this.#inner.campaign(request));
    this.#world.assertReachable();
    const won = await this.#inner.campaign({ ...request, key: this.#world.nameOf(request.key) });
    return won && { lease: won.lease, proclaim: (value) => this.#proclaim(won, value) };
  }

  async look(key: string, signal: AbortSignal): Promise<Sighting> {
    const name = this.#world.nameOf(key);
    this.#world.assertReachable();
    await this.#world.contend(name);
    const { leader, changed } = await this.#inner.look(name, signal);
    return { leader: leader && this.#others.has(leader.fencingToken) ? asOther(leader) : leader, changed };
  }

  #lead(won: WonElection | null): WonElection | null {
    if (won) this.#others.add(won.lease.fencingToken);
    return won;
  }

  async #proclaim(won: WonElection, value: string): Promise<void> {
    this.#world.assertReachable();
    await won.proclaim(value);
  }
}

function asOther(leader: Leader): Leader {
  return { ...leader, owner: { host: 'elsewhere', label: leader.owner.label }, isOwn: false };
}
