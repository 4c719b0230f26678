import { performance } from 'node:perf_hooks';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A clock of its own, on a monotonic and a wall clock that the test moves. */
async function clockOn(hands: { monotonic: number; wall: number }): Promise<() => number> {
  vi.resetModules();
  vi.spyOn(performance, 'now').mockImplementation(() => hands.monotonic);
  vi.spyOn(Date, 'now').mockImplementation(() => hands.wall);
  return (await import('../../../lib/async/clock.js')).now;
}

describe('now', () => {
  it('advances with the monotonic clock', async () => {
    const hands = { monotonic: 1_000, wall: 5_000_000 };
    const clock = await clockOn(hands);
    expect(clock()).toBe(1_000);
    hands.monotonic += 250;
    hands.wall += 250;
    expect(clock()).toBe(1_250);
  });

  it('counts the time in which the machine was suspended and the monotonic clock stood still', async () => {
    const hands = { monotonic: 1_000, wall: 5_000_000 };
    const clock = await clockOn(hands);
    const before = clock();
    hands.monotonic += 5;
    hands.wall += 60_000;
    expect(clock() - before).toBe(60_000);
  });

  it('does not go back when the wall clock is set back', async () => {
    const hands = { monotonic: 1_000, wall: 5_000_000 };
    const clock = await clockOn(hands);
    const before = clock();
    hands.monotonic += 100;
    hands.wall -= 86_400_000;
    expect(clock() - before).toBe(100);
  });

  it('never runs backwards and never slower than the monotonic clock, whatever the wall clock does', async () => {
    const hands = { monotonic: 0, wall: 1_000_000 };
    const clock = await clockOn(hands);
    const steps = fc.array(fc.tuple(fc.nat({ max: 10_000 }), fc.integer({ min: -100_000, max: 100_000 })));
    fc.assert(
      fc.property(steps, (moves) => {
        for (const [monotonicMs, wallMs] of moves) {
          const before = clock();
          hands.monotonic += monotonicMs;
          hands.wall += wallMs;
          expect(clock() - before).toBeGreaterThanOrEqual(monotonicMs);
        }
      }),
    );
  });

  it('is not stopped by fake timers', () => {
    vi.useFakeTimers({ now: 0 });
    const before = now();
    vi.setSystemTime(86_400_000);
    vi.advanceTimersByTime(86_400_000);
    expect(now() - before).toBeLessThan(60_000);
    expect(now()).toBeGreaterThanOrEqual(before);
  });
});
