import { backoff } from '../async/backoff.js';
import { pause } from '../async/timer.js';
import type { Cell, Cells } from '../contract/cells.js';
import { encoded } from './codec.js';
import type { Codec } from './codec.js';
import { checkCallOptions, checkWaitOptions } from './wait.options.js';
import type { CallOptions, WaitOptions } from './wait.options.js';
import type { Limits, Named, Waiting } from './waiting.js';

/** A value, and of which write it is. */
export interface Versioned<T> {
  readonly value: T;
  /** Grows with every write; `'absent'` when nothing was written yet, and the value is the initial one. */
  readonly version: number | 'absent';
}

/** How a shared value is kept. */
export interface SharedValueSetting<T> {
  readonly codec: Codec<T>;
  /** What the value is while nobody has written any. */
  readonly initial: T;
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 500;

/**
 * A value that all processes share. It outlives sessions and processes. A write happens once at most: when the connection is
 * lost with its reply, it is found out about. When the session is, it is made again only if it had a condition that is still
 * so; otherwise, unless the value is what it was to be, the call rejects, and the caller has to look.
 * Every call throws LockUnavailableError when the servers do not answer, and says so when what became of a write is not
 * known; LockConfigurationError; and what the codec throws.
 */
export class SharedValue<T> {
  readonly key: string;
  readonly #at: string;
  readonly #setting: SharedValueSetting<T>;
  readonly #waiting: Waiting;

  /** @internal */
  constructor({ key, at }: Named, setting: SharedValueSetting<T>, waiting: Waiting) {
    this.key = key;
    this.#at = at;
    this.#setting = setting;
    this.#waiting = waiting;
  }

  /** The value as it is: no older than any write that had ended when this was called. */
  async get(options: CallOptions = {}): Promise<Versioned<T>> {
    return this.#call(options, async ({ signal }) =>
      this.#versioned(await this.#cells.read(this.#at, signal, this.key)),
    );
  }

  /** Writes the value, whatever it is now. */
  async set(value: T, options: CallOptions = {}): Promise<void> {
    const data = encoded(this.#setting.codec, value);
    await this.#call(options, ({ signal }) => this.#cells.write(this.#at, { data }, signal, this.key));
  }

  /** Writes the value unless somebody has since `seen`. `null`: somebody has. */
  async compareAndSet(
    { version }: Pick<Versioned<T>, 'version'>,
    value: T,
    options: CallOptions = {},
  ): Promise<Versioned<T> | null> {
    const data = encoded(this.#setting.codec, value);
    return this.#call(options, async ({ signal }) => {
      const write = await this.#cells.write(this.#at, { data, ifVersion: version }, signal, this.key);
      return write.isApplied ? { value, version: write.version ?? 0 } : null;
    });
  }

  /**
   * Writes what `change` makes of the value; again, with the newer value, when somebody else has written meanwhile.
   * @returns what was written
   * @throws LockTimeoutError when others wrote all the time for `waitMs`; what `change` throws, and then nothing was written
   */
  async update(change: (value: T) => T | Promise<T>, options: WaitOptions = {}): Promise<Versioned<T>> {
    checkWaitOptions(options);
    const { key } = this;
    const given = options.signal ? { signal: options.signal } : {};
    return this.#waiting.answer({ ...options, key, why: 'is changed all the time' }, async ({ wait, signal }) => {
      const pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      for (;;) {
        const seen = await this.get({ signal });
        const changed = await change(seen.value);
        signal.throwIfAborted();
        // Not cut short when the time runs out: it may have been written by then.
        const written = await this.compareAndSet(seen, changed, given);
        if (written || !wait) return written;
        await pause(pauses.next(), signal);
      }
    });
  }

  /**
   * The value, and again whenever it has changed; of several changes at once, the latest. For `for await`. Ends when the
   * signal aborts or the application shuts down, and goes on when the servers were out of reach.
   */
  async *observe(options: CallOptions = {}): AsyncIterable<Versioned<T>> {
    checkCallOptions(options);
    const { key } = this;
    const at = this.#at;
    let seen = await this.#waiting.untilOver(options, async (signal) => ({
      cell: await this.#cells.read(at, signal, key),
    }));
    while (seen) {
      const { cell } = seen;
      yield this.#versioned(cell);
      seen = await this.#waiting.untilOver(options, async (signal) => ({
        cell: await this.#cells.next(at, cell, signal, key),
      }));
    }
  }

  /** Forgets the value: it is the initial one again. */
  async remove(options: CallOptions = {}): Promise<void> {
    await this.#call(options, ({ signal }) => this.#cells.write(this.#at, { data: undefined }, signal, this.key));
  }

  get #cells(): Cells {
    return this.#waiting.backend.cells;
  }

  #versioned(cell: Cell | undefined): Versioned<T> {
    if (!cell) return { value: this.#setting.initial, version: 'absent' };
    return { value: this.#setting.codec.decode(cell.data), version: cell.version };
  }

  #call<R>(options: CallOptions, ask: (limits: Limits) => Promise<R>): Promise<R> {
    checkCallOptions(options);
    return this.#waiting.call(options, ask);
  }
}
