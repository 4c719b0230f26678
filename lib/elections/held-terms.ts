import type { ElectionClient, Candidature } from '../service/election-client.js';
import { HeldTerm } from './held-term.js';

/** The terms that this application holds on one connection. */
export class HeldTerms {
  readonly #candidates: ElectionClient;
  readonly #terms = new Set<HeldTerm>();

  constructor(candidates: ElectionClient) {
    this.#candidates = candidates;
  }

  /** Campaigns, and resolves once elected. @throws as an acquisition does */
  async stand(name: string, candidature: Candidature): Promise<HeldTerm> {
    const term = new HeldTerm(name, await this.#candidates.stand(name, candidature));
    this.#terms.add(term);
    void term.over.then(() => this.#terms.delete(term));
    return term;
  }

  /** The terms in this election. At most one of them is held. */
  of(name: string): readonly HeldTerm[] {
    return [...this.#terms].filter(({ key }) => key === name);
  }
}
