import type { Dispose } from '../async/abort.js';
import { now } from '../async/clock.js';
import { after } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import { LockTimeoutError } from '../contract/errors.js';
import type { AcquireOptions } from '../contract/lock.js';

/** Tells who holds what somebody waits for. */
export interface HolderSource {
  /** The wait is about to end: the answer should be there by then. Never throws. */
  ask(): void;
  /** As far as is known without waiting. */
  known(): readonly Contender[];
}

/** The end of a wait, shared by everything that is acquired within it. Aborts with its own `LockTimeoutError`. */
export class Deadline {
  /** `undefined` when there is no end, or no wait. */
  readonly signal: AbortSignal | undefined;
  readonly #why: string | undefined;
  #cancel: Dispose = () => {};
  #isNear = false;
  #holders: HolderSource | undefined;
  #timeout: LockTimeoutError | undefined;

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
    const [end, leadMs] = [now() + waitMs, leadTimeMs(waitMs)];
    const timeOut = () => controller.abort(this.timeout());
    this.#cancel = after(Math.ceil(waitMs - leadMs), () => {
      if (leadMs === 0) return timeOut();
      this.#cancel = after(Math.ceil(Math.min(leadMs, Math.max(0, end - now()))), timeOut);
      this.#nearsEnd();
    });
  }

  /** Whether standing in line is allowed at all. */
  get waits(): boolean {
    return this.waitMs > 0;
  }

  /** From now on this is waited for, and nothing else. */
  waitsFor(source: HolderSource): void {
    this.#holders = source;
    if (this.#isNear) source.ask();
  }

  timeout(): LockTimeoutError {
    return (this.#timeout ??= new LockTimeoutError(this.key, this.waitMs, this.#why, this.#holders?.known()));
  }

  /** Whether `error` says that this very deadline has passed. */
  isReasonOf(error: unknown): boolean {
    return this.signal !== undefined && this.signal.aborted && error === this.signal.reason;
  }

  dispose(): void {
    this.#cancel();
  }

  #nearsEnd(): void {
    this.#isNear = true;
    this.#holders?.ask();
  }
}

/** Whether an acquisition ended because its time ran out. A caller's own reason is its own, whatever it is. */
export function isTimeout(error: unknown, { signal }: AcquireOptions): error is LockTimeoutError {
  return error instanceof LockTimeoutError && error !== signal?.reason;
}

/** What `acquire` yields when it asks once, unless the options say more; `null` for "not this time". */
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

// Enough for two round trips to servers that are busy.
const LONGEST_MS = 500;
const SHARE = 1 / 4;
// Less than this is not enough to be told anything.
const SHORTEST_MS = 2;

/** How long before the end of a wait it is asked who holds the key; 0: not at all. */
export function leadTimeMs(waitMs: number): number {
  const leadMs = Math.min(Math.floor(waitMs * SHARE), LONGEST_MS);
  return leadMs < SHORTEST_MS ? 0 : leadMs;
}

/** For how long after the question an answer is to be had for the error: no wait that asked ends later. */
export const LONGEST_LEAD_MS = LONGEST_MS;
