import { onAbort, putBack, takeController } from '../async/abort.js';
import type { Dispose, OwnAbortController } from '../async/abort.js';
import type { Place } from '../async/collections.js';
import { now } from '../async/clock.js';
import { LONGEST_TIMER_MS } from '../async/timer.js';
import { leadTimeMs } from '../composite/deadline.js';
import type { Contender } from '../contract/contender.js';
import { LockTimeoutError } from '../contract/errors.js';
import { lockedBy } from '../contract/contender.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { CallerRequest, GivingUpListener } from '../contract/lock-request.js';
import { heldLock } from './held-leases.js';
import type { HolderDetails } from './hold-watch.js';
import type { LockTarget } from './lock-targets.js';

/** The caller's options of one acquisition. */
export interface AcquisitionOptions extends HolderDetails {
  /** Total time that the caller waits, in milliseconds. */
  readonly waitMs: number;
  /** Remaining part of `waitMs`, in milliseconds. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  readonly label: string | undefined;
  /** Whether the caller releases the lease itself. A lost lease is useless to it, so it is released at once. */
  readonly isHandle: boolean;
}

/** Notified of the end of acquisitions. Knows the holders of the keys that they wait for. */
export interface AcquisitionListener {
  settled(acquisition: Acquisition, lease: GrantedLease | undefined): void;
  /** Called when the deadline is near. */
  mayTimeOut(target: LockTarget): void;
  /** Returns the holders, as far as they are known. */
  holdersOf(target: LockTarget): readonly Contender[];
}

/**
 * One caller's acquisition, from the first request to the answer. It combines the deadline, the caller's own signal and
 * the shutdown into one end. That end has one listener, or a signal where one is needed.
 */
export class Acquisition implements CallerRequest {
  readonly target: LockTarget;
  readonly wait: boolean;
  readonly isHandle: boolean;
  readonly label: string | undefined;
  readonly place: AcquisitionOptions['place'];
  givenUp: { readonly reason: unknown } | undefined = undefined;
  readonly #waitMs: number;
  readonly #listener: AcquisitionListener;
  #deadline: NodeJS.Timeout | undefined;
  readonly #unlisten: Dispose | undefined;
  #place: Place<Acquisition> | undefined;
  #timeout: LockTimeoutError | undefined;
  #onGivenUp: GivingUpListener | undefined;
  #controller: OwnAbortController | undefined;

  /** @param wait whether the acquisition may wait in the queue */
  constructor(target: LockTarget, options: AcquisitionOptions, wait: boolean, listener: AcquisitionListener) {
    const { waitMs, leftMs, signal, label, place } = options;
    this.target = target;
    this.wait = wait;
    this.isHandle = options.isHandle;
    this.label = label;
    this.place = place;
    this.#waitMs = waitMs;
    this.#listener = listener;
    if (wait && leftMs <= LONGEST_TIMER_MS) this.#deadline = timeOutAfter(this, leftMs);
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

  /** Sets its place among the waiting acquisitions, which it leaves when it is settled. */
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

  /**
   * Restarts the single timer shortly before the deadline, and asks for the holders only now. So waits that are granted
   * earlier cost no such request.
   */
  nearsEnd(end: number, leadMs: number): void {
    const leftMs = Math.min(leadMs, Math.max(0, end - now()));
    this.#deadline = setTimeout(timeOut, Math.ceil(leftMs), this);
    this.#listener.mayTimeOut(this.target);
  }

  timedOut(): void {
    const holders = this.#listener.holdersOf(this.target);
    this.#timeout = new LockTimeoutError(this.key, this.#waitMs, whyNot(holders), holders);
    this.giveUp(this.#timeout);
  }

  /** Whether `error` is the time-out of this very deadline. */
  isTimeout(error: unknown): boolean {
    return this.#timeout !== undefined && error === this.#timeout;
  }

  /** Gives the signal's controller back for reuse. Called when the signal is not used any more. */
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

/** Returns the reason of a time-out if the call holds another key. Otherwise the reason is only another holder. */
function whyNot(holders: readonly Contender[]): string | undefined {
  const held = heldLock();
  if (!held) return undefined;
  const cure = 'calls that take two keys in opposite orders wait for each other; multi() takes both at once';
  return `${lockedBy(holders)}, while this call holds "${held.key}": ${cure}`;
}

// Functions instead of closures: there may be ten thousand timers.
function timeOutAfter(acquisition: Acquisition, leftMs: number): NodeJS.Timeout {
  const leadMs = leadTimeMs(leftMs);
  if (leadMs === 0) return setTimeout(timeOut, leftMs, acquisition);
  return setTimeout(nearEnd, Math.ceil(leftMs - leadMs), acquisition, now() + leftMs, leadMs);
}

function nearEnd(acquisition: Acquisition, end: number, leadMs: number): void {
  acquisition.nearsEnd(end, leadMs);
}

function timeOut(acquisition: Acquisition): void {
  acquisition.timedOut();
}
