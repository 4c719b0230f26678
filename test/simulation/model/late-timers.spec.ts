import { describe, expect, it } from 'vitest';
import type { Fault, Hold } from '../../robustness/model/history.js';
import { EVENT_LOOP_STALLED, MACHINE_SUSPENDED, PROCESS_STOPPED } from '../../robustness/validate/liveness.js';
import { fault, hold } from '../../robustness/validate/records.js';
import { withoutLateTimers } from './late-timers.js';

const COMPARE_MS = 30;

const suspended = (special: Partial<Fault> = {}) =>
  fault({ name: MACHINE_SUSPENDED, target: 'a', from: 50, until: 100, ...special });
/** The end of a hold as it is judged, on a machine that was suspended from 50 to 100. */
const seenUntil = (special: Partial<Hold>, faults: readonly Fault[] = [suspended()]) =>
  withoutLateTimers([hold({ process: 'a', isListening: true, ...special })], faults, COMPARE_MS)[0]?.seenUntil;

describe('a hold whose holder only listens, on a machine that was suspended', () => {
  it('is cut at the suspension if it ends before the clocks are compared', () => {
    expect(seenUntil({ seenUntil: 100 + COMPARE_MS })).toBe(50);
    expect(seenUntil({ seenUntil: 100 })).toBe(50);
  });

  it('counts if it continues for longer', () => {
    expect(seenUntil({ seenUntil: 100 + COMPARE_MS + 1 })).toBe(131);
  });

  it('counts in full if it ended before the machine was resumed', () => {
    expect(seenUntil({ seenUntil: 99 })).toBe(99);
    expect(seenUntil({ seenUntil: 40 })).toBe(40);
  });

  it('counts if it began only during the suspension', () => {
    expect(seenUntil({ from: 50, seenUntil: 120 })).toBe(50);
    expect(seenUntil({ from: 51, seenUntil: 120 })).toBe(120);
  });

  it('is distinct from one whose holder asks', () => {
    expect(seenUntil({ isListening: false, seenUntil: 120 })).toBe(120);
    expect(seenUntil({ isListening: undefined, seenUntil: 120 })).toBe(120);
  });

  it('is distinct from one on another machine', () => {
    expect(seenUntil({ seenUntil: 120 }, [suspended({ target: 'b' })])).toBe(120);
  });

  it.each([PROCESS_STOPPED, EVENT_LOOP_STALLED])('is distinct from one whose timers continue: %s', (name) => {
    expect(seenUntil({ seenUntil: 120 }, [suspended({ name })])).toBe(120);
  });

  it('is cut at the right one of several suspensions', () => {
    expect(seenUntil({ seenUntil: 120 }, [suspended({ from: 10, until: 20 }), suspended()])).toBe(50);
  });
});
