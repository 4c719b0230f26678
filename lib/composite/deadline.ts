import { after } from '../async/timer.js';
import type { Dispose } from '../async/abort.js';
import { LockTimeoutError } from '../contract/errors.js';

/** The end of a wait, shared by everything that is acquired within it. Aborts with its own `LockTimeoutError`. */
export class Deadline {
  /** `undefined` when there is no end, or no wait. */
  readonly signal: AbortSignal | undefined;
  readonly dispose: Dispose = () => {};

  readonly #why: string | undefined;

  /** @param why what the error says stood in the way */
  constructor(
    readonly key: string,
    readonly waitMs: number,
    why?: string,
  ) {
    this.#why = why;
    if (waitMs === 0 || waitMs === Infinity) return;
    const controller = new AbortController();
    this.signal = controller.signal;
    this.dispose = after(waitMs, () => controller.abort(this.timeout()));
  }

  /** Whether standing in line is allowed at all. */
  get waits(): boolean {
    return this.waitMs > 0;
  }

  timeout(): LockTimeoutError {
    return new LockTimeoutError(this.key, this.waitMs, this.#why);
  }

  /** Whether `error` says that this very deadline has passed. */
  isReasonOf(error: unknown): boolean {
    return this.signal !== undefined && this.signal.aborted && error === this.signal.reason;
  }
}
