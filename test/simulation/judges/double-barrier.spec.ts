import { describe, expect, it } from 'vitest';
import type { Fault, Hold } from '../../robustness/model/history.js';
import { fault, hold } from '../../robustness/validate/records.js';
import type { Answer } from '../model/call.js';
import type { MadeCall } from '../model/history.js';
import { checkDoubleBarriers } from './double-barrier.js';
import { made } from './records.js';

type Stretch = readonly [from: number, until?: number];
interface Story {
  readonly calls: readonly MadeCall[];
  readonly holds?: readonly Hold[];
}

const ON = { on: 'double barrier', key: 'stage' } as const;
const TIMES = { callMs: 10, calmMs: 20, noticeMs: 15 };

/** A member that enters, believes to be inside, and leaves. */
function member(
  entering: Stretch,
  leaving?: Stretch,
  how: 'leave' | 'go out' = 'leave',
  answer: Partial<Answer> = {},
): Story {
  const enter = made({ ...ON, ask: 'enter', count: 2 }, entering);
  const [, from = Infinity] = entering;
  const seenUntil = leaving?.[0] ?? from;
  const leave = leaving ? [made({ ...ON, ask: how, member: enter.id }, leaving, answer)] : [];
  return { calls: [enter, ...leave], holds: [hold({ kind: 'member', key: 'stage', from, seenUntil, call: enter.id })] };
}

const failed = (entering: Stretch, outcome: Answer['outcome']): Story => ({
  calls: [made({ ...ON, ask: 'enter', count: 2 }, entering, { outcome })],
});

const findings = (stories: readonly Story[], faults: readonly Fault[] = []) =>
  checkDoubleBarriers(
    { calls: stories.flatMap(({ calls }) => calls), holds: stories.flatMap(({ holds = [] }) => holds), faults },
    TIMES,
  );

describe('a double barrier', () => {
  it('opens when all members are there', () => {
    expect(findings([member([0, 5], [8, 12]), member([4, 6], [9, 12])])).toEqual([]);
  });

  it('does not open for one member alone', () => {
    expect(findings([member([0, 5], [8, 9])])).toHaveLength(1);
  });

  it('does not count members that come later, or have left', () => {
    expect(findings([member([0, 5], [8, 9]), member([6, 7], [8, 9])])).toHaveLength(1);
    const pair = [member([0, 3], [4, 6]), member([0, 3], [4, 6])];
    expect(findings([...pair, member([30, 35], [38, 39])])).toHaveLength(1);
  });

  it('admits a member that comes while others are inside', () => {
    const pair = [member([0, 3], [4, 9]), member([0, 3], [4, 9])];
    expect(findings([...pair, member([7, 8], [8, 9])])).toEqual([]);
  });

  it('does not count members that have given up', () => {
    expect(findings([member([0, 5], [8, 9]), failed([1, 4], 'timeout')])).toHaveLength(1);
    expect(findings([member([0, 5], [8, 9]), failed([1, 4], 'aborted')])).toHaveLength(1);
  });

  it('may have counted a member that gave up during a fault', () => {
    const stories = [member([0, 5], [8, 9]), failed([1, 4], 'timeout')];
    expect(findings(stories, [fault({ from: -30, until: -15 })])).toHaveLength(1);
    expect(findings(stories, [fault({ from: -30, until: -14 })])).toEqual([]);
    expect(findings(stories, [fault({ from: 4, until: 9 })])).toEqual([]);
    expect(findings(stories, [fault({ from: 5, until: 9 })])).toHaveLength(1);
    const { process = '' } = stories[1]!.calls[0] ?? {};
    expect(findings(stories, [fault({ target: process, from: 4, until: 9 })])).toEqual([]);
    expect(findings(stories, [fault({ target: 'app-9.1', from: 4, until: 9 })])).toHaveLength(1);
  });

  it('may have counted members of unknown outcome', () => {
    expect(findings([member([0, 5], [8, 9]), failed([1, 4], 'unknown')])).toEqual([]);
    expect(findings([member([0, 5], [8, 9]), { calls: [made({ ...ON, ask: 'enter', count: 2 }, [1])] }])).toEqual([]);
  });

  it('does not count dead members for ever', () => {
    const dead = { calls: [made({ ...ON, ask: 'enter', count: 2 }, [1])] };
    expect(findings([dead, member([100, 105], [108, 109])])).toHaveLength(1);
  });

  it('may count members for a while that went out during a fault', () => {
    const pair = [member([0, 3], [4, 5], 'go out'), member([0, 3], [4, 5], 'go out')];
    expect(findings([...pair, member([9, 10], [11, 12])])).toHaveLength(1);
    expect(findings([...pair, member([9, 10], [11, 12])], [fault({ from: 2, until: 6 })])).toEqual([]);
  });
});

describe('a member that leaves a double barrier', () => {
  const first = member([0, 3], [5, 6]);

  it('leaves after all others have begun to leave', () => {
    expect(findings([first, member([0, 4], [5, 7])])).toEqual([]);
    expect(findings([first, member([0, 4], [9, 10])])).toHaveLength(1);
  });

  it('does not wait for members that lost their session or came later', () => {
    const lost: Story = { calls: [made({ ...ON, ask: 'enter', count: 2 }, [0, 4])] };
    expect(findings([first, lost])).toEqual([]);
    expect(findings([first, member([0, 4], [5, 6]), member([5, 6], [9, 10])])).toEqual([]);
  });

  it('may have timed out', () => {
    const hasty = member([0, 3], [5, 6], 'leave', { outcome: 'timeout' });
    expect(findings([hasty, member([0, 4], [9, 10])])).toEqual([]);
    expect(findings([member([0, 3], [5, 6], 'go out'), member([0, 4], [9, 10])])).toEqual([]);
  });
});
