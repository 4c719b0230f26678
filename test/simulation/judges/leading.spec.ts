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

describe('an election in which all stand', () => {
  it('has a leader some time after the first has asked', () => {
    expect(findings([FIRST, poll([100, 101])])).toEqual([]);
    expect(findings([FIRST, LATE])).toMatchObject([
      { check: 'terms', message: expect.stringContaining('nobody has led "poller" from 0 to 101') },
    ]);
  });

  it('has a leader some time after one has led', () => {
    const led = poll([50, 60], 'done');
    expect(findings([FIRST, led, poll([160, 161])])).toEqual([]);
    expect(findings([FIRST, led, poll([161, 162])])).toHaveLength(1);
  });

  it('is led for as long as the longest work under the lease', () => {
    const led = [poll([10, 200], 'done'), poll([20, 25], 'done')];
    expect(findings([FIRST, ...led, poll([300, 301])])).toEqual([]);
    expect(findings([FIRST, ...led, poll([301, 302])])).toHaveLength(1);
  });

  it('is judged in the order of the calls, whoever made them', () => {
    expect(findings([poll([300, 301], 'done'), LATE, FIRST])).toHaveLength(1);
  });

  it.each<CallOutcome>(['refused', 'timeout', 'failed'])(
    'is not led by one who was told %s, nor without',
    (outcome) => {
      expect(findings([FIRST, poll([50, 60], outcome), LATE])).toHaveLength(1);
      expect(findings([FIRST, poll([101, 102], outcome)])).toEqual([]);
    },
  );

  it('is not led by one who was never answered, nor without', () => {
    expect(findings([FIRST, poll([50]), LATE])).toHaveLength(1);
    expect(findings([FIRST, poll([101])])).toEqual([]);
  });

  it('is judged once', () => {
    expect(findings([FIRST, LATE, poll([110, 111])])).toHaveLength(1);
  });

  it('is judged by who asks whether it leads', () => {
    const others = [
      made({ on: 'election', key: 'poller', ask: 'campaign' }, [101, 102], { outcome: 'nothing' }),
      made({ on: 'semaphore', key: 'poller', ask: 'acquire', permits: 1 }, [101, 102], { outcome: 'nothing' }),
    ];
    expect(findings([FIRST, ...others])).toEqual([]);
  });

  it('is not led by the leader of another one', () => {
    expect(findings([FIRST, poll([90, 99], 'done', 'captain'), LATE])).toHaveLength(1);
  });

  it('may have none while something is broken, and some time after that', () => {
    const broken = [fault({ from: 40, until: 60 })];
    expect(findings([FIRST, poll([160, 161])], broken)).toEqual([]);
    expect(findings([FIRST, poll([161, 162])], broken)).toHaveLength(1);
  });

  it('has one before something breaks', () => {
    expect(findings([FIRST, LATE], [fault({ from: 101, until: 110 })])).toEqual([]);
    expect(findings([FIRST, LATE], [fault({ from: 102, until: 110 })])).toHaveLength(1);
  });

  it.each<CallOutcome>(['unknown', 'lost'])('may have none after an answer that says so: %s', (outcome) => {
    expect(findings([FIRST, poll([50, 60], outcome), poll([160, 161])])).toEqual([]);
    expect(findings([FIRST, poll([50, 60], outcome), poll([161, 162])])).toHaveLength(1);
  });
});
