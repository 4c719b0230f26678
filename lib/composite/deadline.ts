import { withAnyAbort } from '../async/abort.js';
import { WaitTimer } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { AcquireOptions } from '../contract/lock.js';

/** A source of the holders of a key that a caller waits for. */
export interface HolderSource {
  /** Requests the holders shortly before the wait ends, so that they are known by then. Never throws. */
  ask(): void;
  /** The holders as far as they are known, without waiting. */
  known(): readonly Contender[];
}

/** The deadline of a wait, shared by all acquisitions within it. Its signal aborts with its own `LockTimeoutError`. */
export class Deadline extends WaitTimer {
  readonly #controller: AbortController | undefined;
  readonly #why: string | undefined;
  #isNear = false;
  #holders: HolderSource | undefined;
  #timeout: LockTimeoutError | undefined;

  /** @param why the obstacle that the error names */
  constructor(
    readonly key: string,
    readonly waitMs: number,
    why?: string,
  ) {
    super();
    this.#why = why;
    if (waitMs === 0 || waitMs === Infinity) return;
    this.#controller = new AbortController();
    this.startTimer(waitMs);
  }

  /** `undefined` when `waitMs` is 0 or `Infinity`. */
  get signal(): AbortSignal | undefined {
    return this.#controller?.signal;
  }

  /** Whether waiting in the queue is allowed at all. */
  get waits(): boolean {
    return this.waitMs > 0;
  }

  /** Sets the key that is waited for now, in place of the previous one. */
  waitsFor(source: HolderSource): void {
    this.#holders = source;
    if (this.#isNear) source.ask();
  }

  timeout(): LockTimeoutError {
    return (this.#timeout ??= new LockTimeoutError(this.key, this.waitMs, this.#why, this.#holders?.known()));
  }

  /** Whether `error` is the time-out of this deadline. */
  isReasonOf(error: unknown): boolean {
    return this.signal !== undefined && this.signal.aborted && error === this.signal.reason;
  }

  /** Returns the result of `work`, whose signal aborts at the deadline, and when `signals` do. Ends the deadline. */
  async within<T>(
    signals: readonly (AbortSignal | undefined)[],
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withAnyAbort([...signals, this.signal], work).finally(() => this.stopTimer());
  }

  protected override nearsEnd(): void {
    this.#isNear = true;
    this.#holders?.ask();
  }

  protected override timedOut(): void {
    this.#controller?.abort(this.timeout());
  }
}

/** Whether an acquisition timed out. The reason of the caller's own signal never counts as a time-out. */
export function isTimeout(error: unknown, { signal }: AcquireOptions): error is LockTimeoutError {
  return error instanceof LockTimeoutError && error !== signal?.reason;
}

/** Calls `acquire` with `waitMs` 0, unless the options set it. Returns `null` instead of a time-out. */
export async function trying<L>(
  acquire: (options: AcquireOptions) => Promise<L>,
  options: AcquireOptions,
): Promise<L | null> {
  try {
    return await acquire({ ...options, waitMs: options.waitMs ?? 0 });
  } catch (error) {
    if (isTimeout(error, options)) return null;
    throw error;
  }
}
