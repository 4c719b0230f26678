import { describe, expect, it } from 'vitest';
import { Random } from '../../robustness/random.js';
import { ProcessClock } from './process-clock.js';

describe('ProcessClock', () => {
  it('runs at its own rate, from its own start', () => {
    const clock = new ProcessClock(1.02, 500, 1_000_000);
    expect(clock.monotonicMs(0)).toBe(500);
    expect(clock.monotonicMs(1_000_000)).toBeCloseTo(1_520);
    expect(clock.wallMs(1_000_000)).toBe(1_001_020);
  });

  it('finds the first time of the world at which it shows a given time', () => {
    const random = new Random('clock');
    for (let count = 0; count < 2_000; count++) {
      const clock = new ProcessClock(random.pick([0.98, 0.99, 1, 1.01, 1.02]), random.int(0, 60_000), 0);
      if (random.chance(0.5)) clock.suspended(random.int(1, 5_000_000));
      const dueMs = clock.monotonicMs(10_000_000) + random.int(0, 100_000);
      const at = clock.worldUsAt(dueMs);
      expect(clock.monotonicMs(at)).toBeGreaterThanOrEqual(dueMs);
      expect(clock.monotonicMs(at - 1)).toBeLessThan(dueMs);
    }
  });

  it('stands still while the machine is suspended, except for the wall clock', () => {
    const clock = new ProcessClock(1, 0, 0);
    clock.suspended(2_000_000);
    expect(clock.monotonicMs(5_000_000)).toBe(3_000);
    expect(clock.wallMs(5_000_000)).toBe(5_000);
    expect(clock.worldUsAt(3_000)).toBe(5_000_000);
  });

  it('jumps only on the wall', () => {
    const clock = new ProcessClock(1, 0, 0);
    clock.jump(-3_600_000);
    expect(clock.wallMs(1_000_000)).toBe(1_000 - 3_600_000);
    expect(clock.monotonicMs(1_000_000)).toBe(1_000);
  });
});
