import { onAbort } from '../async/abort.js';
import { deferred } from '../async/deferred.js';
import type { WonElection, Term } from '../contract/elections.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { LeaseView } from '../contract/lease.js';
import { checkProclaimed } from '../contract/elections.js';
import { assertStands } from '../service/hold-scope.js';

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
