import { onAbort } from '../async/abort.js';
import type { Dispose, OwnAbortController } from '../async/abort.js';
import type { Place } from '../async/roster.js';
import { putBack, takeController } from '../async/spare-controllers.js';
import { LONGEST_TIMER_MS } from '../async/timer.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { CallerRequest, GivingUpListener } from '../contract/lock-request.js';
import type { HolderDetails } from './held.js';
import type { LockTarget } from './lock-target.js';

/** What a caller says of its acquisition. */
export interface AcquisitionOptions extends HolderDetails {
  /** How long the caller said that it would wait. */
  readonly waitMs: number;
  /** What is left of that. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  readonly label: string | undefined;
  /** Whether the caller gives the lease back itself. One that is lost is of no use to it: it is given back at once. */
  readonly isHandle: boolean;
}

/** Who is told how acquisitions end. */
export interface SettledListener {
  settled(acquisition: Acquisition, lease: GrantedLease | undefined): void;
}

/**
 * One caller's acquisition, from its first question to its answer: the deadline, the caller's own signal and the
 * shutdown are one end, of which there is one listener, or a signal where somebody needs one.
 */
export class Acquisition implements CallerRequest {
  readonly target: LockTarget;
  readonly wait: boolean;
  readonly isHandle: boolean;
  readonly label: string | undefined;
  readonly place: AcquisitionOptions['place'];
  givenUp: { readonly reason: unknown } | undefined = undefined;
  readonly #waitMs: number;
  readonly #listener: SettledListener;
  readonly #deadline: NodeJS.Timeout | undefined;
  readonly #unlisten: Dispose | undefined;
  #place: Place<Acquisition> | undefined;
  #timeout: LockTimeoutError | undefined;
  #onGivenUp: GivingUpListener | undefined;
  #controller: OwnAbortController | undefined;

  /** @param wait whether it may stand in line at all */
  constructor(target: LockTarget, options: AcquisitionOptions, wait: boolean, listener: SettledListener) {
    const { waitMs, leftMs, signal, label, place } = options;
    this.target = target;
    this.wait = wait;
    this.isHandle = options.isHandle;
    this.label = label;
    this.place = place;
    this.#waitMs = waitMs;
    this.#listener = listener;
    // Not a closure: there may be ten thousand of them.
    if (wait && leftMs <= LONGEST_TIMER_MS) this.#deadline = setTimeout(timeOut, leftMs, this);
    if (signal) this.#unlisten = onAbort(signal, (reason) => this.giveUp(reason));
  }

  get key(): string {
    return this.target.key;
  }

  get at(): string | undefined {
    return this.target.at;
  }

  get identity(): string {
    return this.target.identity;
  }

  get mode(): LockTarget['mode'] {
    return this.target.mode;
  }

  get permits(): LockTarget['permits'] {
    return this.target.permits;
  }

  get line(): LockTarget['line'] {
    return this.target.line;
  }

  get keepMs(): number {
    return this.target.keepMs;
  }

  get keeps(): boolean {
    return this.target.keepMs > 0;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = takeController();
      if (this.givenUp) this.#controller.abort(this.givenUp.reason);
    }
    return this.#controller.signal;
  }

  onGivenUp(listener: GivingUpListener): void {
    this.#onGivenUp = listener;
  }

  /** Among those who wait, until it is settled. */
  waitsAt(place: Place<Acquisition>): void {
    this.#place = place;
  }

  /** Ends the wait with this reason, unless it has ended. */
  giveUp(reason: unknown): void {
    if (this.givenUp) return;
    this.givenUp = { reason };
    this.#letGo();
    this.#onGivenUp?.gaveUp(reason);
    this.#controller?.abort(reason);
  }

  timedOut(): void {
    this.#timeout = new LockTimeoutError(this.key, this.#waitMs);
    this.giveUp(this.#timeout);
  }

  /** Whether `error` says that this very deadline has passed. */
  isTimeout(error: unknown): boolean {
    return this.#timeout !== undefined && error === this.#timeout;
  }

  /** Nobody looks at its signal any more. */
  releaseSignal(): void {
    if (this.#controller) putBack(this.#controller);
    this.#controller = undefined;
  }

  settled(lease?: GrantedLease): void {
    this.#letGo();
    this.#place?.leave();
    this.#listener.settled(this, lease);
  }

  #letGo(): void {
    clearTimeout(this.#deadline);
    this.#unlisten?.();
  }
}

function timeOut(acquisition: Acquisition): void {
  acquisition.timedOut();
}
