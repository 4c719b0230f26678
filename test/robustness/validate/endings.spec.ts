import { describe, expect, it } from 'vitest';
import { checkLeftovers } from './leftovers.js';
import { checkOutcomes } from './outcomes.js';
import { checkProcesses } from './processes.js';
import { attempt, end, fault, hold, write } from './records.js';
import { checkSubstance, inShare } from './substance.js';
import { checkWakeUps } from './wake-ups.js';

describe('leftovers', () => {
  it('are found while all workers are idle, and when all have ended', () => {
    const leftovers = [
      { when: 'idle', what: 'the ephemeral /k/lock-1' },
      { when: 'closed', what: '1 open sessions' },
    ] as const;
    expect(checkLeftovers({ leftovers })).toHaveLength(2);
    expect(checkLeftovers({ leftovers: [] })).toEqual([]);
  });
});

describe('processes', () => {
  it.each([
    ['did not end by itself', end({ end: 'had to be killed', exitCode: null })],
    ['crashed', end({ exitCode: 1 })],
    ['was killed by somebody else', end({ exitCode: null })],
  ])('are reported when one %s', (_, one) => {
    expect(checkProcesses({ ends: [end({}), one], warnings: [] })).toHaveLength(1);
  });

  it('are reported when one printed a warning', () => {
    expect(checkProcesses({ ends: [], warnings: ['worker 1: MaxListenersExceededWarning'] })).toHaveLength(1);
  });

  it('may be killed by a fault, and end by themselves', () => {
    const ends = [end({}), end({ end: 'killed by a fault', exitCode: null })];
    expect(checkProcesses({ ends, warnings: [] })).toEqual([]);
  });
});

describe('outcomes', () => {
  it('that no promise covers are found', () => {
    const failed = attempt({ outcome: 'failed', error: 'KeeperError: noNode' });
    expect(checkOutcomes({ attempts: [attempt({}), failed, attempt({ outcome: 'timeout' })] })).toHaveLength(1);
  });
});

describe('wake-ups', () => {
  it('of more than two waiters are found', () => {
    expect(checkWakeUps({ wakeUps: { deletions: 100, mostWatchesOfOne: 4 } })).toHaveLength(1);
    expect(checkWakeUps({ wakeUps: { deletions: 100, mostWatchesOfOne: 3 } })).toEqual([]);
  });
});

describe('substance', () => {
  const least = { holds: 1, faults: 1, writes: 1 };

  it('is missing in a run in which too little happened', () => {
    expect(checkSubstance({ holds: [], faults: [], writes: [] }, least)).toHaveLength(3);
    expect(checkSubstance({ holds: [hold({})], faults: [], writes: [write({})] }, least)).toHaveLength(1);
  });

  it('is required in proportion to the length of the run', () => {
    expect(inShare({ holds: 100, faults: 3, writes: 50 }, 0.5)).toEqual({ holds: 50, faults: 1, writes: 25 });
    expect(inShare({ holds: 100, faults: 3, writes: 50 }, 2)).toEqual({ holds: 100, faults: 3, writes: 50 });
  });

  it('is accepted where there is enough', () => {
    expect(checkSubstance({ holds: [hold({})], faults: [fault({})], writes: [write({})] }, least)).toEqual([]);
  });
});
