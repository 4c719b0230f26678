import { LockLostError, LockTimeoutError, LockUnavailableError } from '../../contract/errors.js';
import type { LockError } from '../../contract/errors.js';
import { GrantedLease } from '../../contract/granted-lease.js';
import type { LeaseFollower } from '../../contract/granted-lease.js';
import type { Lease, LeaseMode } from '../../contract/lease.js';
import type { Journal, JournalEntry, JournalEvent } from './journal.js';

/** What one call wants, and what becomes of it, written down as it happens. */
export class JournalledAcquisition implements LeaseFollower {
  readonly #journal: Journal;
  readonly #what: Pick<JournalEntry, 'key' | 'mode' | 'label'>;
  #lease: GrantedLease | undefined;
  #isOver = false;

  constructor(journal: Journal, key: string, mode: LeaseMode, label: string | undefined) {
    this.#journal = journal;
    this.#what = { key, mode, label };
  }

  asked(): void {
    this.#add('asked');
  }

  acquired(lease: Lease): void {
    if (!(lease instanceof GrantedLease)) return;
    this.#lease = lease;
    this.#add('acquired');
    this.#journal.follows(lease);
    lease.addFollower(this);
    if (lease.state === 'suspended') this.suspend();
  }

  /** Nobody got anything: the call did not want to wait for longer. */
  turnedAway(): void {
    this.#add('timed out');
  }

  failed(error: unknown): void {
    if (error instanceof LockTimeoutError) this.#add('timed out', error);
    else this.#add(error instanceof LockUnavailableError ? 'unavailable' : 'failed', error);
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
    // A lease whose time ran out knows that only when it is asked.
    if (this.#lease?.state === 'lost') this.#end('lost', new LockLostError(this.#what.key, 'its time ran out'));
    else this.#end('released');
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
