import { describe, expect, it } from 'vitest';
import { FencedRegister } from './fenced-register.js';
import type { Mode } from './history.js';

const accepted = (...writes: readonly (readonly [Mode, bigint])[]) => {
  const register = new FencedRegister();
  return writes.map(([mode, token]) => register.write('k', mode, token));
};

describe('the fenced register', () => {
  it('refuses a write with a smaller token than any before', () => {
    expect(accepted(['write', 5n], ['write', 4n], ['read', 7n], ['exclusive', 6n])).toEqual([true, false, true, false]);
  });

  it('refuses a read only when a writer with a larger token has been there', () => {
    expect(accepted(['read', 5n], ['read', 4n], ['write', 6n], ['read', 5n])).toEqual([true, true, true, false]);
  });

  it('takes the same token again, and keeps keys apart', () => {
    const register = new FencedRegister();
    expect([register.write('k', 'write', 5n), register.write('k', 'write', 5n)]).toEqual([true, true]);
    expect(register.write('other', 'write', 1n)).toBe(true);
  });
});
