import { checkFields, checkWork } from '../contract/check.js';
import type { EnteredMember } from '../contract/coordination-backend.js';
import { checkCount } from './queue.options.js';
import { checkWaitOptions } from './waiting.js';
import type { Named, Waiting, WaitOptions } from './waiting.js';

export interface DoubleBarrierOptions {
  /** How many enter together, 1 to 1,000; the same for all who name the key. */
  readonly count: number;
}

export interface EnterOptions extends WaitOptions {
  /** How long to wait for the others, in milliseconds, 1 or more. Default: the module's `waitMs`. */
  readonly waitMs?: number | undefined;
}

// Who lets them in names each of them in one transaction.
const MOST_MEMBERS = 1_000;

/** @throws LockConfigurationError that names the wrong field */
export function resolveDoubleBarrierOptions(options: DoubleBarrierOptions): DoubleBarrierOptions {
  checkFields('double barrier options', options, ['count']);
  checkCount('count', options.count, MOST_MEMBERS);
  return { count: options.count };
}

/**
 * A barrier that as many as agreed enter together and leave together: the work inside begins when the last has come, and
 * nobody goes on before the last has finished. All of `count` enter, or nobody does: nobody is counted who has given up. Who
 * comes while they are in is in at once.
 */
export class DoubleBarrier {
  readonly key: string;
  readonly #at: string;
  readonly #count: number;
  readonly #waiting: Waiting;

  /** @internal */
  constructor({ key, at }: Named, { count }: DoubleBarrierOptions, waiting: Waiting) {
    this.key = key;
    this.#at = at;
    this.#count = count;
    this.#waiting = waiting;
  }

  /**
   * Resolves when all are there. Whoever gives up is out before its promise rejects; when it turns out that the others have
   * counted it in just before, the promise resolves, for they rely on it. After a session loss it enters again, within its time.
   * @throws LockTimeoutError when not enough came within `waitMs`; LockUnavailableError, LockConfigurationError
   */
  async enter(options: EnterOptions = {}): Promise<BarrierMember> {
    checkWaitOptions(options, undefined, 1);
    const { key } = this;
    const why = `has fewer than ${this.#count} at it`;
    const entered = await this.#waiting.answer({ ...options, key, why }, async ({ wait, signal }) =>
      wait ? this.#waiting.backend.barriers.enter({ key: this.#at, name: key, count: this.#count, signal }) : null,
    );
    this.#waiting.hold(entered.lease);
    return new BarrierMember(key, entered, this.#waiting);
  }

  /** Enters, runs `work` and leaves, each wait within `waitMs`. An error of `work` is rethrown as it is. @throws as both */
  async using<T>(work: (member: BarrierMember) => T | Promise<T>, options: EnterOptions = {}): Promise<T> {
    checkWork(work);
    const member = await this.enter(options);
    let result: T;
    try {
      result = await work(member);
    } catch (error) {
      await member.goOut();
      throw error;
    }
    await member.leave(options);
    return result;
  }
}

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
