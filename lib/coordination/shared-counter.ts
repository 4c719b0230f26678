import { check } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Codec } from './codec.js';
import { SharedValue } from './shared-value.js';
import type { Versioned } from './shared-value.js';
import type { WaitOptions } from './wait.options.js';

const BYTES = 4;
const LEAST = -(2 ** 31);
const MOST = 2 ** 31 - 1;

/** @throws LockConfigurationError that names the field */
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
   * Adds to the counter, once, and returns what it is then. It does not wrap.
   * @throws LockConfigurationError when the sum has no place in 32 bits; as `update`
   */
  async add(delta: number, options: WaitOptions = {}): Promise<Versioned<number>> {
    checkInt32('delta', delta);
    return this.update((value) => value + delta, options);
  }
}
