import { anyAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { after } from '../async/timer.js';
import { LockOverdueError } from '../contract/errors.js';
import type { Lease, LeaseState } from '../contract/lease.js';
import { EnteredLease } from '../service/entered-lease.js';

/** A run's lease as the method sees it: its signal also aborts when the run has taken `atMostMs`. It stays held. */
export class LimitedLease extends EnteredLease {
  readonly dispose: Dispose;
  readonly #lease: Lease;
  readonly #overdue = new AbortController();
  readonly #either: AbortSignal;

  constructor(lease: Lease, atMostMs: number, onOverdue: () => void) {
    super(lease, lease.mode);
    this.#lease = lease;
    const either = anyAbort([lease.signal, this.#overdue.signal]);
    this.#either = either.signal;
    const stop = () => {
      this.#overdue.abort(new LockOverdueError(lease.key, atMostMs));
      onOverdue();
    };
    const cancel = atMostMs === Infinity ? () => {} : after(atMostMs, stop);
    this.dispose = () => {
      cancel();
      either.dispose();
    };
  }

  override get signal(): AbortSignal {
    return this.#either;
  }

  override get state(): LeaseState {
    const { state } = this.#lease;
    return state === 'held' && this.#overdue.signal.aborted ? 'revoking' : state;
  }
}
