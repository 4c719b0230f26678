import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Progress } from '../../../bench/conduct/progress.js';

const RESULT = { shape: '1x1', contender: 'ours', figures: { rate: 7 }, acquisitions: 1, overlaps: 0 } as const;

describe('the progress of a run', () => {
  let lines: string[];

  beforeEach(() => {
    lines = [];
    vi.useFakeTimers();
    vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(String(line)));
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('begins with the plan', () => {
    void new Progress([60_000, 120_000]);
    expect(lines).toEqual(['2 turns, about 3 min']);
  });

  it('has the planned time of the turns that are left', () => {
    const progress = new Progress([10_000, 60_000, 20_000]);
    vi.advanceTimersByTime(10_000);
    progress.show({ ...RESULT, round: 0 });
    expect(lines.at(-1)).toBe('[1/3, 80 s left] 1x1  ours  round 1  7/s');
  });

  it('stretches it when the turns so far have taken longer', () => {
    const progress = new Progress([10_000, 60_000, 20_000]);
    vi.advanceTimersByTime(15_000);
    progress.show({ ...RESULT, round: 0 });
    expect(lines.at(-1)).toContain('[1/3, 2 min left]');
  });
});
