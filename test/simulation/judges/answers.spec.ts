import { describe, expect, it } from 'vitest';
import { attempt, end, fault } from '../../robustness/validate/records.js';
import { PROCESS_STOPPED } from '../../robustness/validate/liveness.js';
import type { MadeCall } from '../model/history.js';
import { checkAllLiveness, checkAnswers } from './answers.js';
import { made, NOTHING } from './records.js';

const LIMITS = { graceMs: 100, callMs: 1_000 };
const get = (until?: number, answer = {}): MadeCall =>
  made({ on: 'counter', key: 'visits', ask: 'get' }, [0, until], answer, 'p');

describe('liveness', () => {
  it('rejects a call that ended long after its deadline', () => {
    expect(checkAllLiveness({ ...NOTHING, calls: [get(1_101)] }, LIMITS)).toHaveLength(1);
    expect(checkAllLiveness({ ...NOTHING, calls: [get(1_100)] }, LIMITS)).toEqual([]);
  });

  it('does not count the time in which the process was stopped', () => {
    const faults = [fault({ name: PROCESS_STOPPED, target: 'p', from: 500, until: 1_500 })];
    expect(checkAllLiveness({ ...NOTHING, calls: [get(2_100)], faults }, LIMITS)).toEqual([]);
    expect(checkAllLiveness({ ...NOTHING, calls: [get(2_101)], faults }, LIMITS)).toHaveLength(1);
  });

  it('rejects a call that never ended, unless its process was killed', () => {
    const of = (how: 'exited' | 'killed by a fault') => ({
      ...NOTHING,
      calls: [get()],
      ends: [end({ process: 'p', end: how })],
    });
    expect(checkAllLiveness(of('exited'), LIMITS)).toHaveLength(1);
    expect(checkAllLiveness(of('killed by a fault'), LIMITS)).toEqual([]);
  });

  it('does not limit calls that last as long as the caller likes', () => {
    const observed = made({ on: 'election', key: 'captain', ask: 'observe' }, [0, 100_000], { outcome: 'aborted' });
    expect(checkAllLiveness({ ...NOTHING, calls: [observed] }, LIMITS)).toEqual([]);
  });

  it('does not limit giving up at a double barrier while servers are away', () => {
    const enter = made({ on: 'double barrier', key: 'stage', ask: 'enter', count: 2 }, [0, 5_000], {
      outcome: 'timeout',
    });
    expect(checkAllLiveness({ ...NOTHING, calls: [enter] }, LIMITS)).toHaveLength(1);
    expect(
      checkAllLiveness({ ...NOTHING, calls: [enter], faults: [fault({ from: 900, until: 950 })] }, LIMITS),
    ).toEqual([]);
  });

  it('limits acquisitions in the same way', () => {
    expect(
      checkAllLiveness({ ...NOTHING, attempts: [attempt({ waitMs: 100, answeredAt: 201 })] }, LIMITS),
    ).toHaveLength(1);
  });
});

describe('answers', () => {
  const findings = (calls: MadeCall[], mishaps: string[] = []) => checkAnswers({ attempts: [], calls, mishaps });

  it('are rejected if no promise mentions them', () => {
    expect(findings([get(1, { outcome: 'failed', error: 'KeeperError' })])).toHaveLength(1);
    expect(findings([get(1, { outcome: 'refused' })])).toHaveLength(1);
    expect(findings([get(1, { outcome: 'unknown' }), get(1), get()])).toEqual([]);
  });

  it('of a stock may be that an order is used up', () => {
    const call = { on: 'stock', key: 'mug', ask: 'deduct', units: 1, orderId: 'a' } as const;
    expect(findings([made(call, [0, 1], { outcome: 'refused' })])).toEqual([]);
  });

  it('are rejected if the traffic itself made a mistake', () => {
    expect(findings([], ['TypeError'])).toMatchObject([{ check: 'traffic' }]);
  });
});
