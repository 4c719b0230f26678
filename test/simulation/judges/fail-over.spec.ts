import { describe, expect, it } from 'vitest';
import type { Fault, Hold } from '../../robustness/model/history.js';
import { fault, hold } from '../../robustness/validate/records.js';
import { checkFailOver } from './fail-over.js';

const CALM_MS = 100;
const LOOK_MS = 30;
const FROM = 1_000;
const SEEN_UNTIL = 2_000;

const frozen = (special: Partial<Fault> = {}) =>
  fault({ name: 'freeze', target: 'follower', from: 1_500, until: 1_800, ...special });
const findings = (faults: readonly Fault[], special: Partial<Hold> = {}, limits: object = { canFailOver: true }) =>
  checkFailOver(
    { holds: [hold({ key: 'orders/1', end: 'lost', from: FROM, seenUntil: SEEN_UNTIL, ...special })], faults },
    { calmMs: CALM_MS, lookMs: LOOK_MS, ...limits },
  );

describe('a lease that is lost while one follower is frozen', () => {
  it('should have been kept', () => {
    expect(findings([frozen()])).toMatchObject([{ check: 'liveness' }]);
  });

  it('need not be kept if links are too slow to find another server in time', () => {
    expect(findings([frozen()], {}, { canFailOver: false })).toEqual([]);
    expect(findings([frozen()], {}, {})).toEqual([]);
  });

  it('was not lost if it was released, or its process ended', () => {
    expect(findings([frozen()], { end: 'released' })).toEqual([]);
    expect(findings([frozen()], { end: 'open' })).toEqual([]);
  });

  it('may have been revoked if its key is one that programs revoke', () => {
    expect(findings([frozen()], { key: 'stock' })).toEqual([]);
    expect(findings([frozen()], { key: 'orders/2' })).toHaveLength(1);
  });

  it.each([
    ['the leader stood still', { target: 'leader' }],
    ['a server stood still that may have led', { target: '1' }],
    ['a follower was cut off', { name: 'cut-off' }],
  ])('may be lost when %s', (_what, special) => {
    expect(findings([frozen(special)])).toEqual([]);
  });

  it('is not judged if no server was frozen around it', () => {
    expect(findings([])).toEqual([]);
    expect(findings([frozen({ from: 0, until: FROM - CALM_MS })])).toHaveLength(1);
    expect(findings([frozen({ from: 0, until: FROM - CALM_MS - 1 })])).toEqual([]);
    expect(findings([frozen({ from: SEEN_UNTIL + LOOK_MS, until: 9_000 })])).toHaveLength(1);
    expect(findings([frozen({ from: SEEN_UNTIL + LOOK_MS + 1, until: 9_000 })])).toEqual([]);
  });

  it('may be lost if there was another fault shortly before, or meanwhile', () => {
    const another = (from: number, until: number) => [frozen(), fault({ name: 'reset', from, until })];
    expect(findings(another(0, FROM - CALM_MS))).toEqual([]);
    expect(findings(another(0, FROM - CALM_MS - 1))).toHaveLength(1);
    expect(findings(another(SEEN_UNTIL + LOOK_MS, 9_000))).toEqual([]);
    expect(findings(another(SEEN_UNTIL + LOOK_MS + 1, 9_000))).toHaveLength(1);
    expect(findings([frozen(), frozen()])).toEqual([]);
  });
});
