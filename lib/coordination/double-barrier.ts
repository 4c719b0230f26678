import { checkFields, checkWork } from '../contract/check.js';
import type { EnteredMember } from '../contract/coordination-backend.js';
import { checkCount } from './queue.options.js';
import { checkWaitOptions } from './waiting.js';
import type { Limits, Named, Waiting, WaitOptions } from './waiting.js';

/** The options of a double barrier. */
export interface DoubleBarrierOptions {
  /** The number of members that enter together, 1 to 1,000; the same for all users of the key. */
  readonly count: number;
}

/** The options of `enter` of a double barrier. */
export interface EnterOptions extends WaitOptions {
  /** The time to wait for the others, in milliseconds, 1 or more. Default: the module's `waitMs`. */
  readonly waitMs?: number | undefined;
}

// The process that admits the members names each of them in one transaction.
const MOST_MEMBERS = 1_000;

/** Checks the options. @throws LockConfigurationError that names the wrong field */
export function resolveDoubleBarrierOptions(options: DoubleBarrierOptions): DoubleBarrierOptions {
  checkFields('double barrier options', options, ['count']);
  checkCount('count', options.count, MOST_MEMBERS);
  return { count: options.count };
}

/**
 * A barrier that `count` members enter together and leave together. The work inside begins when the last member has
 * come, and no member continues before the last has finished. All of `count` enter, or none does: a member that has
 * given up is not counted. A member that comes while the others are inside enters at once.
 */
export class DoubleBarrier {
  /** The key as the application wrote it. */
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
   * Resolves when all members are there. A member that gives up is removed before its promise rejects. When the others
   * have counted it just before, the promise resolves, because they rely on it. After a session loss the member enters
   * again, within its time.
   * @throws LockTimeoutError when not enough members came within `waitMs`; LockUnavailableError, LockConfigurationError
   */
  async enter(options: EnterOptions = {}): Promise<BarrierMember> {
    checkWaitOptions(options, undefined, 1);
    const { key } = this;
    const why = `has fewer than ${this.#count} at it`;
    const enter = async ({ wait, signal }: Limits): Promise<readonly [EnteredMember] | null> => {
      if (!wait) return null;
      return [await this.#waiting.backend.barriers.enter({ key: this.#at, name: key, count: this.#count, signal })];
    };
    // Members share the barrier, as readers share a key.
    const of = { ...options, key, kind: 'barrier', mode: 'read' } as const;
    const [entered] = await this.#waiting.acquire(of, () => this.#waiting.answer({ ...of, why }, enter));
    return new BarrierMember(key, entered, this.#waiting);
  }

  /**
   * Enters, runs `work` and leaves, each wait within `waitMs`. An error of `work` is rethrown unchanged.
   * @throws as `enter` and `leave`
   */
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

/** One member inside a double barrier. `await using member = …` leaves at the end of the block, without waiting. */
export class BarrierMember implements AsyncDisposable {
  readonly #entered: EnteredMember;
  readonly #waiting: Waiting;

  /** @internal */
  constructor(
    /** The key as the application wrote it. */
    readonly key: string,
    entered: EnteredMember,
    waiting: Waiting,
  ) {
    this.#entered = entered;
    this.#waiting = waiting;
  }

  /** Aborts with a `LockLostError` when the session is over, and the others are notified that this member has left. */
  get signal(): AbortSignal {
    return this.#entered.lease.signal;
  }

  /** Whether the others certainly count this member as inside, by the clock at this instant. */
  isIn(): boolean {
    return this.#entered.lease.isHeld();
  }

  /**
   * Leaves, and resolves when all members that were inside have left. This member has left even when the wait fails.
   * @throws LockTimeoutError when others were still inside after `waitMs`; LockLostError when it had left before,
   *   because its session was over: then the others may have continued without it
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

  /** Leaves without waiting for the others. Idempotent, never rejects. */
  goOut(): Promise<void> {
    return this.#entered.lease.release();
  }

  /** Leaves without waiting for the others. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.goOut();
  }
}
