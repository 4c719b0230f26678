import { LockLostError, LockTimeoutError, LockUnavailableError } from '../../contract/errors.js';
import type { LockError } from '../../contract/errors.js';
import type { GrantedLease, LeaseFollower } from '../../contract/granted-lease.js';
import type { Journal, JournalEntry, JournalEvent } from './journal.js';

/** One acquisition. It records its request and its outcome in the journal as they happen. */
export class JournalledAcquisition implements LeaseFollower {
  readonly #journal: Journal;
  readonly #what: Pick<JournalEntry, 'key' | 'mode' | 'label'>;
  #lease: GrantedLease | undefined;
  #isOver = false;

  constructor(journal: Journal, what: Pick<JournalEntry, 'key' | 'mode' | 'label'>) {
    this.#journal = journal;
    this.#what = what;
  }

  /** Returns the result of `ask`. */
  async follow<L extends GrantedLease | null>(ask: () => Promise<L>): Promise<L> {
    this.#add('asked');
    try {
      const lease = await ask();
      if (lease) this.#acquired(lease);
      else this.#add('timed out');
      return lease;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  suspend(): void {
    this.#add('suspended');
  }

  resume(): void {
    this.#add('resumed');
  }

  revoke(): void {
    this.#add('revoked');
  }

  lose(reason: LockError): void {
    this.#end('lost', reason);
  }

  releasing(): void {
    // A lease whose time has run out notices so only when it is asked.
    if (this.#lease?.state === 'lost') this.#end('lost', new LockLostError(this.#what.key, 'its time ran out'));
    else this.#end('released');
  }

  #acquired(lease: GrantedLease): void {
    this.#lease = lease;
    this.#add('acquired');
    lease.addFollower(this);
    if (lease.state === 'suspended') this.suspend();
    if (lease.state === 'revoking') this.revoke();
    if (lease.state === 'lost') this.#end('lost', lease.signal.reason);
  }

  #failed(error: unknown): void {
    if (error instanceof LockTimeoutError) this.#add('timed out', error);
    else this.#add(error instanceof LockUnavailableError ? 'unavailable' : 'failed', error);
  }

  #end(event: 'lost' | 'released', error?: unknown): void {
    if (!this.#isOver) this.#add(event, error);
    this.#isOver = true;
  }

  #add(event: JournalEvent, error?: unknown): void {
    const token = this.#lease && { fencingToken: this.#lease.fencingToken };
    this.#journal.add({ event, ...this.#what, ...token, ...(error !== undefined && { error }) });
  }
}
