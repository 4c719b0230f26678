import { describe, expect, it } from 'vitest';
import type { Fault } from '../../robustness/model/history.js';
import { fault } from '../../robustness/validate/records.js';
import type { CallOutcome } from '../model/call.js';
import type { MadeCall } from '../model/history.js';
import { checkLeading } from './leading.js';
import { made } from './records.js';

const CALM_MS = 100;

type Stretch = readonly [from: number, until?: number];

const poll = (at: Stretch, outcome: CallOutcome = 'nothing', key = 'poller') =>
  made({ on: 'election', key, ask: 'poll' }, at, { outcome });
const findings = (calls: readonly MadeCall[], faults: readonly Fault[] = []) =>
  checkLeading({ calls, attempts: [], faults }, CALM_MS);

const FIRST = poll([0, 1]);
const LATE = poll([101, 102]);

describe('an election in which all campaign', () => {
  it('has a leader some time after the first poll', () => {
    expect(findings([FIRST, poll([100, 101])])).toEqual([]);
    expect(findings([FIRST, LATE])).toMatchObject([
      { check: 'terms', message: expect.stringContaining('nobody has led "poller" from 0 to 101') },
    ]);
  });

  it('has a leader some time after the last one has led', () => {
    const led = poll([50, 60], 'done');
    expect(findings([FIRST, led, poll([160, 161])])).toEqual([]);
    expect(findings([FIRST, led, poll([161, 162])])).toHaveLength(1);
  });

  it('is led for as long as the longest work under the lease', () => {
    const led = [poll([10, 200], 'done'), poll([20, 25], 'done')];
    expect(findings([FIRST, ...led, poll([300, 301])])).toEqual([]);
    expect(findings([FIRST, ...led, poll([301, 302])])).toHaveLength(1);
  });

  it('is judged in the order of the calls', () => {
    expect(findings([poll([300, 301], 'done'), LATE, FIRST])).toHaveLength(1);
  });

  it.each<CallOutcome>(['refused', 'timeout', 'failed'])(
    'is neither led nor shown leaderless by the answer: %s',
    (outcome) => {
      expect(findings([FIRST, poll([50, 60], outcome), LATE])).toHaveLength(1);
      expect(findings([FIRST, poll([101, 102], outcome)])).toEqual([]);
    },
  );

  it('is neither led nor shown leaderless by a call without an answer', () => {
    expect(findings([FIRST, poll([50]), LATE])).toHaveLength(1);
    expect(findings([FIRST, poll([101])])).toEqual([]);
  });

  it('has one finding at most', () => {
    expect(findings([FIRST, LATE, poll([110, 111])])).toHaveLength(1);
  });

  it('is judged by polls only', () => {
    const others = [
      made({ on: 'election', key: 'poller', ask: 'campaign' }, [101, 102], { outcome: 'nothing' }),
      made({ on: 'semaphore', key: 'poller', ask: 'acquire', permits: 1 }, [101, 102], { outcome: 'nothing' }),
    ];
    expect(findings([FIRST, ...others])).toEqual([]);
  });

  it('is not led by the leader of another election', () => {
    expect(findings([FIRST, poll([90, 99], 'done', 'captain'), LATE])).toHaveLength(1);
  });

  it('may have no leader during a fault, and some time after it', () => {
    const broken = [fault({ from: 40, until: 60 })];
    expect(findings([FIRST, poll([160, 161])], broken)).toEqual([]);
    expect(findings([FIRST, poll([161, 162])], broken)).toHaveLength(1);
  });

  it('has a leader before a fault begins', () => {
    expect(findings([FIRST, LATE], [fault({ from: 101, until: 110 })])).toEqual([]);
    expect(findings([FIRST, LATE], [fault({ from: 102, until: 110 })])).toHaveLength(1);
  });

  it.each<CallOutcome>(['unknown', 'lost'])('may have no leader after the answer: %s', (outcome) => {
    expect(findings([FIRST, poll([50, 60], outcome), poll([160, 161])])).toEqual([]);
    expect(findings([FIRST, poll([50, 60], outcome), poll([161, 162])])).toHaveLength(1);
  });
});
