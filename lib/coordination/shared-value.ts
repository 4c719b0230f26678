import { backoff, pause } from '../async/timer.js';
import { check } from '../contract/check.js';
import type { Cell, Cells } from '../contract/coordination-backend.js';
import { LockConfigurationError } from '../contract/errors.js';
import { encoded } from './codec.js';
import type { Codec } from './codec.js';
import { checkCallOptions, checkWaitOptions } from './waiting.js';
import type { CallOptions, Limits, Named, Waiting, WaitOptions } from './waiting.js';

/** A value, and the write that it comes from. */
export interface Versioned<T> {
  /** The value. */
  readonly value: T;
  /** Grows with every write. `'absent'` when nothing was written yet, and the value is the initial one. */
  readonly version: number | 'absent';
}

/** The settings of a shared value. */
interface SharedValueSetting<T> {
  readonly codec: Codec<T>;
  /** The value until one has been written. */
  readonly initial: T;
}

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 500;

/**
 * A value that all processes share. It outlives sessions and processes.
 *
 * A write happens at most once. When the connection is lost with its reply, the outcome is looked up. When the session
 * is lost, the write is repeated only if it had a condition that still holds. Otherwise the call rejects, unless the
 * value is already the intended one, and the caller has to check.
 *
 * Every call throws LockUnavailableError when the servers do not answer. Its message says so when the outcome of a
 * write is not known. It also throws LockConfigurationError, and what the codec throws.
 */
export class SharedValue<T> {
  /** The key as the application wrote it. */
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

  /** Returns the value. It is no older than any write that had ended when this was called. */
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

  /** Writes the value unless it has been written since that version. Returns `null` if it has. */
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
   * Writes the result of `change`. Repeats it with the newer value when another caller has written meanwhile.
   * @returns what was written
   * @throws LockTimeoutError when others wrote all the time for `waitMs`; what `change` throws, and then nothing was
   *   written
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
        // Not aborted when the time runs out: the value may have been written by then.
        const written = await this.compareAndSet(seen, changed, given);
        if (written || !wait) return written;
        await pause(pauses.next(), signal);
      }
    });
  }

  /**
   * Yields the value, and again whenever it has changed; of several changes at once, the latest. For `for await`. Ends
   * when the signal aborts or the application shuts down. Continues when the servers were out of reach.
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

  /** Removes the value: it is the initial one again. */
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

const BYTES = 4;
const LEAST = -(2 ** 31);
const MOST = 2 ** 31 - 1;

/** Checks a whole number of 32 bits. @throws LockConfigurationError that names the field */
export function checkInt32(field: string, value: unknown): void {
  const isInt32 = typeof value === 'number' && Number.isInteger(value) && value >= LEAST && value <= MOST;
  check(isInt32, field, value, `a whole number from ${LEAST} to ${MOST}`);
}

/** Four bytes, big-endian, as Curator's `SharedCount` writes them. */
export const INT32_CODEC: Codec<number> = {
  encode: (value) => {
    checkInt32('value', value);
    const bytes = Buffer.alloc(BYTES);
    bytes.writeInt32BE(value);
    return bytes;
  },
  decode: (bytes) => {
    if (bytes.length === BYTES) return Buffer.from(bytes).readInt32BE();
    throw new LockConfigurationError(
      `what is kept there is no counter: it has ${bytes.length} bytes, and not ${BYTES}`,
    );
  },
};

/** A whole number of 32 bits that all processes share. */
export class SharedCounter extends SharedValue<number> {
  /**
   * Adds to the counter, once, and returns the new value. It does not wrap. When the outcome cannot be determined,
   * because the session was lost with the reply, it is not added again. The call then rejects with a
   * LockUnavailableError that says so.
   * @throws LockConfigurationError when the sum does not fit into 32 bits; as `update`
   */
  async add(delta: number, options: WaitOptions = {}): Promise<Versioned<number>> {
    checkInt32('delta', delta);
    return this.update((value) => value + delta, options);
  }
}
