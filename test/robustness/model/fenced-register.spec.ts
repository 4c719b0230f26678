import { describe, expect, it } from 'vitest';
import { FencedRegister } from './fenced-register.js';
import type { Mode } from './history.js';

const accepted = (...writes: readonly (readonly [Mode, bigint])[]) => {
  const register = new FencedRegister();
  return writes.map(([mode, token]) => register.write('k', mode, token));
};

describe('the fenced register', () => {
  it('refuses a write with a smaller token than an earlier one', () => {
    expect(accepted(['write', 5n], ['write', 4n], ['read', 7n], ['exclusive', 6n])).toEqual([true, false, true, false]);
  });

  it('refuses a read only after a write with a larger token', () => {
    expect(accepted(['read', 5n], ['read', 4n], ['write', 6n], ['read', 5n])).toEqual([true, true, true, false]);
  });

  it('accepts the same token again, and separates keys', () => {
    const register = new FencedRegister();
    expect([register.write('k', 'write', 5n), register.write('k', 'write', 5n)]).toEqual([true, true]);
    expect(register.write('other', 'write', 1n)).toBe(true);
  });
});
