import { describe, expect, it } from 'vitest';
import type { Hold } from '../../robustness/model/history.js';
import { hold } from '../../robustness/validate/records.js';
import type { Answer } from '../model/call.js';
import { INITIAL_PERMITS } from '../model/initial.js';
import type { MadeCall } from '../model/history.js';
import { checkPermits } from './permits.js';
import { made } from './records.js';

const ON = { on: 'semaphore', key: 'printers' } as const;

/** So many permits, with the time of the call and the time in which they were seen as held. */
function held(permits: number, askedAt: number, from: number, seenUntil: number): { hold: Hold; call: MadeCall } {
  const call = made({ ...ON, ask: 'acquire', permits }, [askedAt, from]);
  return { call, hold: hold({ kind: 'permits', key: ON.key, permits, from, seenUntil, call: call.id }) };
}

const resized = (permits: number, from: number, until?: number, answer: Partial<Answer> = {}) =>
  made({ ...ON, ask: 'setPermits', permits }, [from, until], answer);

const findings = (holds: readonly ReturnType<typeof held>[], resizes: readonly MadeCall[] = []) =>
  checkPermits({
    holds: holds.map((one) => one.hold),
    calls: [...holds.map(({ call }) => call), ...resizes],
    faults: [],
  });

const ALL = held(INITIAL_PERMITS, 0, 1, 100);

describe('permits', () => {
  it('are never more than there are', () => {
    expect(findings([ALL, held(1, 5, 10, 20)])).toHaveLength(1);
    expect(findings([ALL, held(1, 5, 100, 120)])).toEqual([]);
  });

  it('are counted by the number of each acquisition', () => {
    expect(findings([held(2, 0, 1, 100), held(1, 0, 2, 100)])).toEqual([]);
    expect(findings([held(2, 0, 1, 100), held(2, 0, 2, 100)])).toHaveLength(1);
  });

  describe('that were increased', () => {
    it('may be held during the increase, and after it', () => {
      expect(findings([ALL, held(1, 5, 10, 20)], [resized(4, 8, 30)])).toEqual([]);
      expect(findings([ALL, held(1, 5, 40, 50)], [resized(4, 8, 30)])).toEqual([]);
    });

    it('must not be held before the increase was requested', () => {
      expect(findings([ALL, held(1, 5, 10, 20)], [resized(4, 11, 30)])).toHaveLength(1);
    });

    it('may be held at any time if the outcome of the increase is unknown', () => {
      expect(findings([ALL, held(1, 500, 510, 520), held(3, 490, 500, 530)], [resized(4, 8)])).toEqual([]);
      const unknown = resized(4, 8, 9, { outcome: 'unknown' });
      expect(findings([held(3, 490, 500, 530), held(1, 500, 510, 520)], [unknown])).toEqual([]);
      const refused = resized(4, 8, 9, { outcome: 'timeout' });
      expect(findings([held(3, 490, 500, 530), held(1, 500, 510, 520)], [refused])).toHaveLength(1);
    });
  });

  describe('that were reduced', () => {
    it('are kept by their holders', () => {
      expect(findings([ALL], [resized(1, 5, 10)])).toEqual([]);
    });

    it('must not be granted surely after the reduction', () => {
      expect(findings([held(2, 0, 1, 100), held(1, 20, 30, 40)], [resized(2, 5, 10)])).toHaveLength(1);
    });

    it('may be granted to a caller that asked before the reduction was done', () => {
      expect(findings([held(2, 0, 1, 100), held(1, 8, 30, 40)], [resized(2, 5, 10)])).toEqual([]);
    });

    it('and increased again are counted by the latest number', () => {
      const resizes = [resized(1, 5, 10), resized(4, 12, 14)];
      expect(findings([ALL, held(1, 20, 30, 40)], resizes)).toEqual([]);
      expect(findings([ALL, held(2, 20, 30, 40)], resizes)).toHaveLength(1);
    });
  });
});
