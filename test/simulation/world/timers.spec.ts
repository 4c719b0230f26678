import { describe, expect, it } from 'vitest';
import { Random } from '../../robustness/random.js';
import { Timers } from './timers.js';

/** Timers on a clock that a test sets. */
function timersAt(clock: { ms: number }) {
  const ran: string[] = [];
  const firsts: number[] = [];
  const timers: Timers = new Timers(
    () => clock.ms,
    () => firsts.push(timers.nextDueMs!),
  );
  const set = (name: string, ms: number | undefined) => timers.set(() => void ran.push(name), ms, false);
  const runAll = (byMs: number) => {
    clock.ms = byMs;
    while (timers.runFirst(byMs));
    return ran.splice(0);
  };
  return { timers, set, runAll, firsts, ran };
}

describe('Timers', () => {
  it('run by the millisecond at which they are due, and with equal delays by age', () => {
    const { set, runAll } = timersAt({ ms: 0 });
    for (const [name, ms] of Object.entries({ c: 30, a1: 10, b: 20, a2: 10 })) set(name, ms);
    expect(runAll(9)).toEqual([]);
    expect(runAll(10)).toEqual(['a1', 'a2']);
    expect(runAll(100)).toEqual(['b', 'c']);
  });

  it('run all due timers of one delay before the next delay, like a late Node', () => {
    const clock = { ms: 0 };
    const { set, runAll } = timersAt(clock);
    set('first of 10', 10);
    clock.ms = 2;
    set('second of 10, due at 12', 10);
    set('first of 9, due at 11', 9);
    expect(runAll(50)).toEqual(['first of 10', 'second of 10, due at 12', 'first of 9, due at 11']);
  });

  it('fire after a millisecond if the delay is missing, too short or too long', () => {
    const { set, runAll, timers } = timersAt({ ms: 5 });
    const delays = [0, -1, undefined, Number.NaN, 2 ** 31, Infinity];
    for (const ms of delays) expect(set(String(ms), ms).dueMs).toBe(6);
    expect(timers.nextDueMs).toBe(6);
    expect(runAll(6)).toEqual(delays.map(String));
    expect(set('7', 7.9).dueMs).toBe(13);
  });

  it('repeat from the time at which they ran, not from when they were due', () => {
    const clock = { ms: 0 };
    const { timers } = timersAt(clock);
    const interval = timers.set(() => {}, 10, true);
    clock.ms = 25;
    expect(timers.runFirst(25)).toBe(true);
    expect(timers.runFirst(25)).toBe(false);
    expect(interval.dueMs).toBe(35);
  });

  it('can be cleared, even by themselves', () => {
    const clock = { ms: 0 };
    const { timers, ran, runAll } = timersAt(clock);
    const other = timers.set(() => void ran.push('other'), 10, false);
    const interval = timers.set(
      () => {
        ran.push('interval');
        other.close();
        timers.clear(interval);
      },
      5,
      true,
    );
    expect(runAll(100)).toEqual(['interval']);
    expect(timers.nextDueMs).toBeUndefined();
  });

  it('begin again when refreshed, even in their own callback, unless they were cleared', () => {
    const clock = { ms: 0 };
    const { timers, ran, set, runAll } = timersAt(clock);
    const late = set('late', 10);
    clock.ms = 6;
    late.refresh();
    const cleared = set('cleared', 3);
    timers.clear(cleared);
    cleared.refresh();
    expect(runAll(15)).toEqual([]);
    expect(runAll(16)).toEqual(['late']);
    const again = timers.set(
      () => {
        ran.push('again');
        again.refresh();
      },
      10,
      false,
    );
    expect([26, 36, 46, 56].map(runAll)).toEqual([['again'], ['again'], ['again'], ['again']]);
  });

  it('continue after a callback that throws', () => {
    const { timers, set, runAll } = timersAt({ ms: 0 });
    const interval = timers.set(
      () => {
        throw new Error('on purpose');
      },
      1,
      true,
    );
    set('next', 2);
    expect(() => timers.runFirst(1)).toThrow('on purpose');
    timers.clear(interval);
    expect(runAll(2)).toEqual(['next']);
  });

  it('report a timer that is due before all others, and no other', () => {
    const { set, firsts } = timersAt({ ms: 0 });
    for (const ms of [20, 30, 10, 10, 15]) set('', ms);
    expect(firsts).toEqual([20, 10]);
  });

  it('run each timer once, and never before it is due', () => {
    const random = new Random('timers');
    const clock = { ms: 0 };
    const { timers } = timersAt(clock);
    const due = new Set<object>();
    for (let step = 0; step < 3_000; step++) {
      const timer = timers.set(() => ranAt(), random.int(1, 40), false);
      const ranAt = () => {
        expect(due.delete(timer)).toBe(true);
        expect(timer.dueMs).toBeLessThanOrEqual(clock.ms);
      };
      due.add(timer);
      const next = random.pick(['nothing', 'nothing', 'nothing', 'refresh', 'clear']);
      if (next === 'refresh') timer.refresh();
      if (next === 'clear') {
        timers.clear(timer);
        due.delete(timer);
      }
      clock.ms += random.int(0, 3);
      while (random.chance(0.95) && timers.runFirst(clock.ms));
    }
    clock.ms += 100;
    while (timers.runFirst(clock.ms));
    expect(due.size).toBe(0);
  });
});
