import { channels } from '../contract/channels.js';
import type { ElectionEvent } from '../contract/channels.js';
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
    void term.over.then(() => this.#ended(term));
    this.publish('elected', name, term.fencingToken);
    return term;
  }

  /** Publishes a change of this application's part in an election. */
  publish(change: ElectionEvent['change'], name: string, term?: bigint, error?: unknown): void {
    if (!channels.election.hasSubscribers) return;
    const { origin } = this.#candidates;
    channels.election.publish({ connection: origin.connection, origin, change, name, term, error });
  }

  #ended(term: HeldTerm): void {
    this.#terms.delete(term);
    this.publish('deposed', term.key, term.fencingToken);
  }

  /** The terms in this election. At most one of them is held. */
  of(name: string): readonly HeldTerm[] {
    return [...this.#terms].filter(({ key }) => key === name);
  }
}
