import type { Barriers } from '../contract/coordination-backend.js';
import { checkCallOptions, checkWaitOptions } from './waiting.js';
import type { CallOptions, WaitOptions, Limits, Named, Waiting } from './waiting.js';

/**
 * A barrier that is up or down for all processes. It outlives sessions: when the process that raised it dies, it
 * remains up until it is lifted.
 * Every call throws LockUnavailableError when the servers do not answer, and LockConfigurationError.
 */
export class Barrier {
  /** The key as the application wrote it. */
  readonly key: string;
  readonly #at: string;
  readonly #waiting: Waiting;

  /** @internal */
  constructor({ key, at }: Named, waiting: Waiting) {
    this.key = key;
    this.#at = at;
    this.#waiting = waiting;
  }

  /** Raises the barrier: calls of `wait` block from now on. Does nothing more when it is up already. */
  async raise(options: CallOptions = {}): Promise<void> {
    await this.#call(options, async ({ signal }) => this.#barriers.raise(this.#at, signal, this.key));
  }

  /** Lifts the barrier: all waiting calls resolve. Does nothing more when it is down already. */
  async lift(options: CallOptions = {}): Promise<void> {
    await this.#call(options, async ({ signal }) => this.#barriers.lift(this.#at, signal, this.key));
  }

  /** Whether a call of `wait` would have to wait now. */
  async isUp(options: CallOptions = {}): Promise<boolean> {
    return !(await this.#call(options, ({ wait, signal }) =>
      this.#barriers.pass({ key: this.#at, name: this.key, wait, signal }),
    ));
  }

  /** Resolves once the barrier is down. Continues through session losses. @throws LockTimeoutError after `waitMs` */
  async wait(options: WaitOptions = {}): Promise<void> {
    checkWaitOptions(options);
    const { key } = this;
    await this.#waiting.answer({ ...options, key, why: 'is not lifted' }, async ({ wait, signal }) =>
      (await this.#barriers.pass({ key: this.#at, name: this.key, wait, signal })) ? true : null,
    );
  }

  get #barriers(): Barriers {
    return this.#waiting.backend.barriers;
  }

  #call<T>(options: CallOptions, ask: (limits: Limits) => Promise<T>): Promise<T> {
    checkCallOptions(options);
    return this.#waiting.call(options, ask);
  }
}
