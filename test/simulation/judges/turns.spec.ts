import { describe, expect, it } from 'vitest';
import type { Fault } from '../../robustness/model/history.js';
import { fault } from '../../robustness/validate/records.js';
import type { Contender } from '../model/history.js';
import { checkTurns } from './turns.js';

const TURN_MS = 20;
const one = (order: number, special: Partial<Contender> = {}): Contender => ({
  key: 'k',
  mode: 'exclusive',
  session: `s${order}`,
  order,
  madeAt: 0,
  ...special,
});
/** A contender with which its process granted callers at 10, at 101, and at a last time. */
const holding = (last: number, special: Partial<Contender> = {}) => one(1, { grants: [10, 101, last], ...special });
const findings = (contenders: Contender[], faults: Fault[] = []) => checkTurns({ contenders, faults }, TURN_MS);

describe('the turn of a process', () => {
  const waiting = one(2, { madeAt: 100 });

  it('ends some time after another process has begun to wait', () => {
    expect(findings([holding(121), waiting])).toEqual([]);
    expect(findings([holding(122), waiting])).toHaveLength(1);
  });

  it('is measured from the first caller that is granted after that', () => {
    expect(findings([one(1, { grants: [10, 11, 900] }), waiting])).toEqual([]);
    expect(findings([one(1, { grants: [10, 11, 900, 921] }), waiting])).toHaveLength(1);
  });

  it('has no end in an election', () => {
    const key = '/locks/%elections/poller';
    expect(findings([holding(500, { key }), { ...waiting, key }])).toEqual([]);
  });

  it('has no end while no other process waits', () => {
    expect(findings([holding(500)])).toEqual([]);
    expect(findings([holding(500), one(2, { session: 's1', madeAt: 100 })])).toEqual([]);
    expect(findings([holding(500), { ...waiting, goneAt: 110 }])).toEqual([]);
  });

  it('of readers ends only for a writer', () => {
    const readers = holding(500, { mode: 'read' });
    expect(findings([readers, { ...waiting, mode: 'read' }])).toEqual([]);
    expect(findings([readers, { ...waiting, mode: 'write' }])).toHaveLength(1);
  });

  it('is not judged during a fault', () => {
    expect(findings([holding(500), waiting], [fault({ from: 300, until: 310 })])).toEqual([]);
    expect(findings([holding(500), waiting], [fault({ from: 600, until: 610 })])).toHaveLength(1);
  });
});
