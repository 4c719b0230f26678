import type { EnteredMember } from '../contract/barriers.js';
import { checkWaitOptions } from './wait.options.js';
import type { WaitOptions } from './wait.options.js';
import type { Waiting } from './waiting.js';

/** One who is inside a double barrier. `await using member = …` goes out at the end of the block, without waiting. */
export class BarrierMember implements AsyncDisposable {
  readonly #entered: EnteredMember;
  readonly #waiting: Waiting;

  /** @internal */
  constructor(
    readonly key: string,
    entered: EnteredMember,
    waiting: Waiting,
  ) {
    this.#entered = entered;
    this.#waiting = waiting;
  }

  /** Aborts with a `LockLostError` when the others are told that this one has left, because its session is over. */
  get signal(): AbortSignal {
    return this.#entered.lease.signal;
  }

  /** Whether the others surely know this one to be in, by the clock at this instant. */
  isIn(): boolean {
    return this.#entered.lease.isHeld();
  }

  /**
   * Goes out, and resolves when all who were in have gone. Whatever ends the wait, this one is out.
   * @throws LockTimeoutError when others were still in after `waitMs`; LockLostError when it was out before, because its
   *   session was over: then the others may have gone on without it
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    checkWaitOptions(options, undefined, 1);
    const { key } = this;
    try {
      await this.#waiting.answer({ ...options, key, why: 'has others inside' }, async ({ signal }) => {
        await this.#entered.leave(signal);
        return true;
      });
    } finally {
      await this.goOut();
    }
  }

  /** Goes out without waiting for the others. Idempotent, never rejects. */
  goOut(): Promise<void> {
    return this.#entered.lease.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.goOut();
  }
}
