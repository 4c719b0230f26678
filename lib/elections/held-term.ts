import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { WonElection, Term } from '../contract/elections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { LeaseView } from '../contract/lease.js';
import { checkProclaimed } from '../contract/elections.js';
import { assertStands } from '../service/hold-scope.js';
import { channels } from '../contract/channels.js';
import type { ElectionEvent } from '../contract/channels.js';
import type { ElectionClient, Candidature } from '../service/election-client.js';

/** A term as its holder sees it, under the election name that the application uses. */
export class HeldTerm extends LeaseView implements Term {
  /** Resolves as soon as the term is resigned or lost, or is to be released. */
  readonly over: Promise<void>;
  readonly #name: string;
  readonly #lease: GrantedLease;
  readonly #proclaim: (value: string) => Promise<void>;
  readonly #over = deferred();

  constructor(name: string, { lease, proclaim }: WonElection) {
    super(lease);
    this.#name = name;
    this.#lease = lease;
    this.#proclaim = proclaim;
    this.over = this.#over.promise;
    const dispose = onAbort(lease.signal, () => this.#over.resolve());
    void this.over.then(() => dispose());
  }

  override get key(): string {
    return this.#name;
  }

  /** Resolves when the lease has been released. */
  get released(): Promise<void> {
    return this.#lease.released;
  }

  async proclaim(value: string): Promise<void> {
    checkProclaimed(value);
    assertStands(this);
    return this.#proclaim(value);
  }

  resign(): Promise<void> {
    this.#over.resolve();
    return this.#lease.release();
  }

  release(): Promise<void> {
    return this.resign();
  }
}

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
