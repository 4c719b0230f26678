import { describe, expect, it } from 'vitest';
import type { Hold } from '../../robustness/model/history.js';
import { hold } from '../../robustness/validate/records.js';
import type { Answer } from '../model/call.js';
import { INITIAL_PERMITS } from '../model/initial.js';
import type { MadeCall } from '../model/history.js';
import { checkPermits } from './permits.js';
import { made } from './records.js';

const ON = { on: 'semaphore', key: 'printers' } as const;

/** So many permits, asked for and believed from then until then. */
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
  it('are not more than there are', () => {
    expect(findings([ALL, held(1, 5, 10, 20)])).toHaveLength(1);
    expect(findings([ALL, held(1, 5, 100, 120)])).toEqual([]);
  });

  it('are counted by how many each acquisition has', () => {
    expect(findings([held(2, 0, 1, 100), held(1, 0, 2, 100)])).toEqual([]);
    expect(findings([held(2, 0, 1, 100), held(2, 0, 2, 100)])).toHaveLength(1);
  });

  describe('that were made more', () => {
    it('may be held while, and after, that is done', () => {
      expect(findings([ALL, held(1, 5, 10, 20)], [resized(4, 8, 30)])).toEqual([]);
      expect(findings([ALL, held(1, 5, 40, 50)], [resized(4, 8, 30)])).toEqual([]);
    });

    it('may not be held before that was asked', () => {
      expect(findings([ALL, held(1, 5, 10, 20)], [resized(4, 11, 30)])).toHaveLength(1);
    });

    it('may be held at any time when it is not known whether they were', () => {
      expect(findings([ALL, held(1, 500, 510, 520), held(3, 490, 500, 530)], [resized(4, 8)])).toEqual([]);
      const unknown = resized(4, 8, 9, { outcome: 'unknown' });
      expect(findings([held(3, 490, 500, 530), held(1, 500, 510, 520)], [unknown])).toEqual([]);
      const refused = resized(4, 8, 9, { outcome: 'timeout' });
      expect(findings([held(3, 490, 500, 530), held(1, 500, 510, 520)], [refused])).toHaveLength(1);
    });
  });

  describe('that were made fewer', () => {
    it('are kept by those who hold them', () => {
      expect(findings([ALL], [resized(1, 5, 10)])).toEqual([]);
    });

    it('let nobody in whose grant was surely later', () => {
      expect(findings([held(2, 0, 1, 100), held(1, 20, 30, 40)], [resized(2, 5, 10)])).toHaveLength(1);
    });

    it('may have let somebody in who asked before that was done', () => {
      expect(findings([held(2, 0, 1, 100), held(1, 8, 30, 40)], [resized(2, 5, 10)])).toEqual([]);
    });

    it('and more again count by the latest', () => {
      const resizes = [resized(1, 5, 10), resized(4, 12, 14)];
      expect(findings([ALL, held(1, 20, 30, 40)], resizes)).toEqual([]);
      expect(findings([ALL, held(2, 20, 30, 40)], resizes)).toHaveLength(1);
    });
  });
});
