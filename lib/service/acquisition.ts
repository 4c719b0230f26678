import { onAbort, OwnAbortController } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { after } from '../async/timer.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { CallerRequest } from '../contract/lock-request.js';
import type { LockTarget } from './lock-target.js';

/** What a caller says of its acquisition. */
export interface AcquisitionOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly label: string | undefined;
}

/**
 * One caller's acquisition, from its first question to its answer: the deadline, the caller's own signal and the
 * shutdown are one end, of which there is one listener, or a signal where somebody needs one.
 */
export class Acquisition implements CallerRequest {
  readonly wait: boolean;
  readonly label: string | undefined;
  givenUp: { readonly reason: unknown } | undefined;
  readonly #target: LockTarget;
  readonly #waitMs: number;
  #timeout: LockTimeoutError | undefined;
  readonly #cancelDeadline: Dispose | undefined;
  readonly #unlisten: Dispose | undefined;
  #onGivenUp: ((reason: unknown) => void) | undefined;
  #controller: OwnAbortController | undefined;

  /** @param wait whether it may stand in line at all */
  constructor(target: LockTarget, { waitMs, signal, label }: AcquisitionOptions, wait: boolean) {
    this.#target = target;
    this.#waitMs = waitMs;
    this.wait = wait;
    this.label = label;
    if (waitMs > 0 && waitMs !== Infinity) this.#cancelDeadline = after(waitMs, () => this.#timedOut());
    if (signal) this.#unlisten = onAbort(signal, (reason) => this.giveUp(reason));
  }

  get key(): string {
    return this.#target.key;
  }

  get identity(): string {
    return this.#target.identity;
  }

  get mode(): LockTarget['mode'] {
    return this.#target.mode;
  }

  get line(): LockTarget['line'] {
    return this.#target.line;
  }

  get keepMs(): number {
    return this.#target.keepMs;
  }

  get keeps(): boolean {
    return this.#target.keepMs > 0;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new OwnAbortController();
      if (this.givenUp) this.#controller.abort(this.givenUp.reason);
    }
    return this.#controller.signal;
  }

  onGivenUp(listener: (reason: unknown) => void): void {
    this.#onGivenUp = listener;
  }

  /** Ends the wait with this reason, unless it has ended. */
  giveUp(reason: unknown): void {
    if (this.givenUp) return;
    this.givenUp = { reason };
    this.settle();
    this.#onGivenUp?.(reason);
    this.#controller?.abort(reason);
  }

  /** Whether `error` says that this very deadline has passed. */
  isTimeout(error: unknown): boolean {
    return this.#timeout !== undefined && error === this.#timeout;
  }

  /** The question was answered: lets go of the timer and of the caller's signal. */
  settle(): void {
    this.#cancelDeadline?.();
    this.#unlisten?.();
  }

  #timedOut(): void {
    this.#timeout = new LockTimeoutError(this.key, this.#waitMs);
    this.giveUp(this.#timeout);
  }
}
