import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { now, suspendAwareClock } from '../../../lib/async/clock.js';

describe('a clock that detects suspended machines', () => {
  let monotonic: number;
  let wall: number;
  let clock: () => number;
  const pass = (monotonicMs: number, wallMs: number) => {
    monotonic += monotonicMs;
    wall += wallMs;
  };

  beforeEach(() => {
    [monotonic, wall] = [1_000, 5_000_000];
    clock = suspendAwareClock(
      () => monotonic,
      () => wall,
    );
  });

  it('advances with the monotonic clock', () => {
    expect(clock()).toBe(1_000);
    pass(250, 250);
    expect(clock()).toBe(1_250);
  });

  it('counts the time in which the monotonic clock stood still, once', () => {
    pass(5, 60_000);
    expect(clock()).toBe(61_000);
    expect(clock()).toBe(61_000);
    pass(100, 100);
    expect(clock()).toBe(61_100);
  });

  it('counts the time of every suspension', () => {
    pass(5, 60_000);
    clock();
    pass(5, 60_000);
    expect(clock()).toBe(121_000);
  });

  it('counts a suspension after the wall clock was set back', () => {
    pass(0, -86_400_000);
    clock();
    pass(5, 60_000);
    expect(clock()).toBe(61_000);
  });

  it.each([
    [50, 1_000],
    [51, 1_051],
  ])('takes a wall clock gain of %d ms for %d', (gainMs, reading) => {
    pass(0, gainMs);
    expect(clock()).toBe(reading);
  });

  it('does not go back when the wall clock is set back', () => {
    pass(100, -86_400_000);
    expect(clock()).toBe(1_100);
  });

  it('never runs backwards and never slower than the monotonic clock, whatever the wall clock does', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 10_000 }), fc.integer({ min: -100_000, max: 100_000 })));
    fc.assert(
      fc.property(steps, (moves) => {
        for (const [monotonicMs, wallMs] of moves) {
          const before = clock();
          pass(monotonicMs, wallMs);
          expect(clock() - before).toBeGreaterThanOrEqual(monotonicMs);
        }
      }),
    );
  });
});

describe('now', () => {
  afterEach(() => void vi.useRealTimers());

  it('is not stopped, nor moved, by fake timers', () => {
    vi.useFakeTimers({ now: 0 });
    const before = now();
    vi.setSystemTime(86_400_000);
    vi.advanceTimersByTime(86_400_000);
    expect(now() - before).toBeLessThan(60_000);
    expect(now()).toBeGreaterThanOrEqual(before);
  });

  it('advances', () => {
    const before = now();
    const until = performance.now() + 2;
    while (performance.now() < until);
    expect(now() - before).toBeGreaterThanOrEqual(1.9);
  });
});
