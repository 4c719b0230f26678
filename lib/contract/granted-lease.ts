import { LockLostError, LockRevokedError } from './errors.js';
import type { LockError } from './errors.js';
import type { Lease, LeaseMode, LeaseState } from './lease.js';

/** What a backend granted, and how it is checked and given back. */
export interface Grant {
  readonly key: string;
  readonly mode: LeaseMode;
  readonly fencingToken: bigint;
  /** Whether the grant stands at this instant, by a clock that needs no event to be right. */
  isCurrent(): boolean;
  /** Gives the key back; must end, and must not reject. Called at most once. */
  giveBack(): Promise<void>;
}

/** The one state machine behind every backend's leases. The backend calls `suspend`, `resume`, `revoke` and `lose`. */
export class GrantedLease implements Lease {
  readonly acquiredAt = new Date();
  /** Resolves when the holder has given the lease back, lost or not. */
  readonly released: Promise<void>;
  readonly #grant: Grant;
  readonly #abort = new AbortController();
  #settleReleased!: () => void;
  #state: LeaseState = 'held';
  #release: Promise<void> | undefined;

  constructor(grant: Grant) {
    this.#grant = grant;
    this.released = new Promise((resolve) => (this.#settleReleased = resolve));
  }

  get key(): string {
    return this.#grant.key;
  }

  get mode(): LeaseMode {
    return this.#grant.mode;
  }

  get fencingToken(): bigint {
    return this.#grant.fencingToken;
  }

  get state(): LeaseState {
    return this.#state;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  isHeld(): boolean {
    if (this.#isOver()) return false;
    if (this.#grant.isCurrent()) return true;
    this.lose(new LockLostError(this.key, 'its time ran out on the holder’s own clock'));
    return false;
  }

  suspend(): void {
    if (this.#state === 'held') this.#state = 'suspended';
  }

  resume(): void {
    if (this.#state === 'suspended') this.#state = 'held';
  }

  revoke(): void {
    if (this.#isOver()) return;
    this.#state = 'revoking';
    this.#abort.abort(new LockRevokedError(this.key));
  }

  lose(reason: LockError): void {
    if (this.#isOver()) return;
    this.#state = 'lost';
    this.#abort.abort(reason);
  }

  release(): Promise<void> {
    if (this.#state !== 'lost') this.#state = 'released';
    return (this.#release ??= this.#grant.giveBack().finally(this.#settleReleased));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  #isOver(): boolean {
    return this.#state === 'lost' || this.#state === 'released';
  }
}
