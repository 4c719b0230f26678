import type { CampaignRequest, Elections, Sighting, WonElection } from '../../contract/elections.js';

/** Elections held elsewhere, for as long as they can be reached. */
export class ReachableElections implements Elections {
  readonly #inner: Elections;
  readonly #assertReachable: () => void;

  /** @param assertReachable throws why they can not be */
  constructor(inner: Elections, assertReachable: () => void) {
    this.#inner = inner;
    this.#assertReachable = assertReachable;
  }

  async campaign(request: CampaignRequest): Promise<WonElection | null> {
    this.#assertReachable();
    const won = await this.#inner.campaign(request);
    return won && { lease: won.lease, proclaim: (value) => this.#proclaim(won, value) };
  }

  async look(name: string, signal: AbortSignal): Promise<Sighting> {
    this.#assertReachable();
    return this.#inner.look(name, signal);
  }

  async #proclaim(won: WonElection, value: string): Promise<void> {
    this.#assertReachable();
    await won.proclaim(value);
  }
}
