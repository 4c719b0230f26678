import { describe, expect, it } from 'vitest';
import { LastingFaults } from './lasting-faults.js';

describe('faults of one kind that overlap', () => {
  it('begin with the first and end with the last', () => {
    const faults = new LastingFaults();
    const calls: string[] = [];
    const freeze = (server: number) =>
      faults.begin(
        `freeze ${server}`,
        () => calls.push(`freeze ${server}`),
        () => calls.push(`thaw ${server}`),
      );
    const [long, short, other] = [freeze(1), freeze(1), freeze(2)];
    short();
    expect(calls).toEqual(['freeze 1', 'freeze 2']);
    long();
    other();
    expect(calls).toEqual(['freeze 1', 'freeze 2', 'thaw 1', 'thaw 2']);
    freeze(1)();
    expect(calls.slice(4)).toEqual(['freeze 1', 'thaw 1']);
  });
});
