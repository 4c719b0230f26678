import { after } from '../async/timer.js';
import type { Dispose } from '../async/abort.js';
import { LockTimeoutError } from '../contract/errors.js';

/** The end of a wait, shared by everything that is acquired within it. Aborts with its own `LockTimeoutError`. */
export class Deadline {
  readonly #abort = new AbortController();
  readonly dispose: Dispose;

  constructor(
    readonly key: string,
    readonly waitMs: number,
  ) {
    const isTimed = waitMs > 0 && waitMs < Infinity;
    this.dispose = isTimed ? after(waitMs, () => this.#abort.abort(this.timeout())) : () => {};
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether standing in line is allowed at all. */
  get waits(): boolean {
    return this.waitMs > 0;
  }

  timeout(): LockTimeoutError {
    return new LockTimeoutError(this.key, this.waitMs);
  }

  /** Whether `error` says that this very deadline has passed. */
  isReasonOf(error: unknown): boolean {
    return this.signal.aborted && error === this.signal.reason;
  }
}
