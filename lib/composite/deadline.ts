import { withAnyAbort } from '../async/abort.js';
import { now } from '../async/clock.js';
import { LONGEST_TIMER_MS } from '../async/timer.js';
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

/**
 * The timer of a wait, with two steps: shortly before the end, when the holders are requested, and at the end. So waits
 * that are granted earlier cost no such request.
 */
export abstract class WaitTimer {
  #timer: NodeJS.Timeout | undefined;

  protected abstract nearsEnd(): void;

  protected abstract timedOut(): void;

  /** Starts the timer, unless the wait is longer than a timer can be. */
  protected startTimer(leftMs: number): void {
    if (leftMs > LONGEST_TIMER_MS) return;
    const leadMs = leadTimeMs(leftMs);
    // Arguments instead of closures: there may be ten thousand timers.
    this.#timer =
      leadMs === 0
        ? setTimeout(WaitTimer.#end, leftMs, this)
        : setTimeout(WaitTimer.#near, Math.ceil(leftMs - leadMs), this, now() + leftMs, leadMs);
  }

  protected stopTimer(): void {
    clearTimeout(this.#timer);
  }

  static readonly #near = (timer: WaitTimer, end: number, leadMs: number): void => {
    const leftMs = Math.min(leadMs, Math.max(0, end - now()));
    timer.#timer = setTimeout(WaitTimer.#end, Math.ceil(leftMs), timer);
    timer.nearsEnd();
  };

  static readonly #end = (timer: WaitTimer): void => timer.timedOut();
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

// Enough for two round trips to busy servers.
const LONGEST_MS = 500;
const SHARE = 1 / 4;
// Less than this is too short for a reply.
const SHORTEST_MS = 2;

/** The time before the end of a wait at which the holders are requested, in milliseconds. 0: they are not requested. */
function leadTimeMs(waitMs: number): number {
  const leadMs = Math.min(Math.floor(waitMs * SHARE), LONGEST_MS);
  return leadMs < SHORTEST_MS ? 0 : leadMs;
}

/**
 * The time after a request during which its reply is useful for the error, in milliseconds. No wait that made a request
 * ends later.
 */
export const LONGEST_LEAD_MS = LONGEST_MS;
