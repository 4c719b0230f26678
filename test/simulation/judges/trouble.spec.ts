import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../robustness/model/history.js';
import { attempt, fault } from '../../robustness/validate/records.js';
import type { CallOutcome } from '../model/call.js';
import { made } from './records.js';
import { Trouble } from './trouble.js';

const NONE = { faults: [], calls: [], attempts: [] };
const CALM_MS = 100;
/** Whether an interval is calm. All trouble in these tests is between 1000 and 1010. */
const isCalm = (history: Partial<ConstructorParameters<typeof Trouble>[0]>, from: number, until = from) =>
  new Trouble({ ...NONE, ...history }).isCalm(from, until, CALM_MS);

const get = (until: number | undefined, outcome: CallOutcome) =>
  made({ on: 'counter', key: 'visits', ask: 'get' }, [1_000, until], { outcome });

describe('trouble', () => {
  it('lasts during a fault, and for some time after it', () => {
    const faults = [fault({ from: 1_000, until: 1_010 })];
    expect(isCalm({ faults }, 900, 999)).toBe(true);
    expect(isCalm({ faults }, 900, 1_000)).toBe(false);
    expect(isCalm({ faults }, 1_110)).toBe(false);
    expect(isCalm({ faults }, 1_111)).toBe(true);
  });

  it.each<CallOutcome>(['unknown', 'lost'])('includes a call with the outcome: %s', (outcome) => {
    const calls = [get(1_010, outcome)];
    expect([999, 1_000, 1_110, 1_111].map((at) => isCalm({ calls }, at))).toEqual([true, false, false, true]);
  });

  it.each<CallOutcome>(['done', 'nothing', 'timeout', 'aborted', 'refused', 'failed'])(
    'does not include a call with the outcome: %s',
    (outcome) => expect(isCalm({ calls: [get(1_010, outcome)] }, 1_005)).toBe(true),
  );

  it('does not include a call without an outcome', () => {
    expect(isCalm({ calls: [get(undefined, 'done')] }, 1_000)).toBe(true);
  });

  it.each<Outcome>(['unavailable', 'lost'])('includes an acquisition with the outcome: %s', (outcome) => {
    const attempts = [attempt({ askedAt: 1_000, answeredAt: 1_010, outcome })];
    expect([999, 1_000, 1_110, 1_111].map((at) => isCalm({ attempts }, at))).toEqual([true, false, false, true]);
  });

  it.each<Outcome>(['granted', 'not this time', 'timeout', 'aborted', 'revoked', 'failed'])(
    'does not include an acquisition with the outcome: %s',
    (outcome) =>
      expect(isCalm({ attempts: [attempt({ askedAt: 1_000, answeredAt: 1_010, outcome })] }, 1_005)).toBe(true),
  );
});
