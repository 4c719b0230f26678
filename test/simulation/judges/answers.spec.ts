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
  it('finds a call that ended long after its time', () => {
    expect(checkAllLiveness({ ...NOTHING, calls: [get(1_101)] }, LIMITS)).toHaveLength(1);
    expect(checkAllLiveness({ ...NOTHING, calls: [get(1_100)] }, LIMITS)).toEqual([]);
  });

  it('counts a stop of the process for nobody', () => {
    const faults = [fault({ name: PROCESS_STOPPED, target: 'p', from: 500, until: 1_500 })];
    expect(checkAllLiveness({ ...NOTHING, calls: [get(2_100)], faults }, LIMITS)).toEqual([]);
    expect(checkAllLiveness({ ...NOTHING, calls: [get(2_101)], faults }, LIMITS)).toHaveLength(1);
  });

  it('finds a call that never ended, unless its process was killed', () => {
    const of = (how: 'exited' | 'killed by a fault') => ({
      ...NOTHING,
      calls: [get()],
      ends: [end({ process: 'p', end: how })],
    });
    expect(checkAllLiveness(of('exited'), LIMITS)).toHaveLength(1);
    expect(checkAllLiveness(of('killed by a fault'), LIMITS)).toEqual([]);
  });

  it('gives those all the time that the caller decides about', () => {
    const observed = made({ on: 'election', key: 'captain', ask: 'observe' }, [0, 100_000], { outcome: 'aborted' });
    expect(checkAllLiveness({ ...NOTHING, calls: [observed] }, LIMITS)).toEqual([]);
  });

  it('gives those time who give up at a double barrier while servers are away', () => {
    const enter = made({ on: 'double barrier', key: 'stage', ask: 'enter', count: 2 }, [0, 5_000], {
      outcome: 'timeout',
    });
    expect(checkAllLiveness({ ...NOTHING, calls: [enter] }, LIMITS)).toHaveLength(1);
    expect(
      checkAllLiveness({ ...NOTHING, calls: [enter], faults: [fault({ from: 900, until: 950 })] }, LIMITS),
    ).toEqual([]);
  });

  it('has acquisitions by the same bound', () => {
    expect(
      checkAllLiveness({ ...NOTHING, attempts: [attempt({ waitMs: 100, answeredAt: 201 })] }, LIMITS),
    ).toHaveLength(1);
  });
});

describe('answers', () => {
  const findings = (calls: MadeCall[], mishaps: string[] = []) => checkAnswers({ attempts: [], calls, mishaps });

  it('are found that no promise speaks of', () => {
    expect(findings([get(1, { outcome: 'failed', error: 'KeeperError' })])).toHaveLength(1);
    expect(findings([get(1, { outcome: 'refused' })])).toHaveLength(1);
    expect(findings([get(1, { outcome: 'unknown' }), get(1), get()])).toEqual([]);
  });

  it('of a stock may be that an order is used up', () => {
    const call = { on: 'stock', key: 'mug', ask: 'deduct', units: 1, orderId: 'a' } as const;
    expect(findings([made(call, [0, 1], { outcome: 'refused' })])).toEqual([]);
  });

  it('come from a traffic that made no mistake', () => {
    expect(findings([], ['TypeError'])).toMatchObject([{ check: 'traffic' }]);
  });
});
