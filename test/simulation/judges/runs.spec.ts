import { describe, expect, it } from 'vitest';
import type { Fault, Hold } from '../../robustness/model/history.js';
import { fault, hold } from '../../robustness/validate/records.js';
import type { MadeCall, Run } from '../model/history.js';
import { made, run } from './records.js';
import { checkRuns } from './runs.js';

const CALM_MS = 50;
const findings = (runs: Partial<Run>[], calls: MadeCall[] = [], faults: Fault[] = [], holds: Hold[] = []) =>
  checkRuns({ runs: runs.map(run), calls, attempts: [], faults, holds }, CALM_MS);
const fired = (tick: number, from: number, until = from + 1) =>
  made({ on: 'job', key: 'once', ask: 'fire', tick }, [from, until]);

describe('the runs of a job', () => {
  it('are one for each tick', () => {
    expect(findings([{ tick: 5 }, { tick: 10, from: 5 }])).toEqual([]);
    expect(findings([{ tick: 5 }, { tick: 5, from: 5, attempt: 2 }])).toHaveLength(1);
  });

  it('are one for each tick even if their process died', () => {
    expect(
      findings(
        [
          { tick: 5, until: undefined },
          { tick: 5, from: 5 },
        ],
        [],
        [fault({ from: 0, until: 10 })],
      ),
    ).toHaveLength(1);
  });

  it('must not be of an earlier tick than the ones before, by their tokens', () => {
    expect(
      findings([
        { tick: 10, token: 1n },
        { tick: 5, from: 5, token: 2n },
      ]),
    ).toHaveLength(1);
    expect(
      findings([
        { tick: 10, from: 5, token: 2n },
        { tick: 5, token: 1n },
      ]),
    ).toEqual([]);
  });

  it('may be repeated when the lease of the previous run was lost', () => {
    const runs = [
      { job: 'again', tick: 5, token: 7n },
      { job: 'again', tick: 5, from: 5, attempt: 2, token: 8n },
    ];
    const ended = (token: bigint, end: Hold['end']) => [hold({ key: 'cron/again', kind: 'run', token, end })];
    expect(findings(runs, [], [], ended(7n, 'released'))).toHaveLength(1);
    expect(findings(runs, [], [], ended(8n, 'lost'))).toHaveLength(1);
    const [other] = ended(7n, 'lost');
    expect(findings(runs, [], [], [{ ...other!, key: 'cron/once' }])).toHaveLength(1);
    expect(findings(runs, [], [], ended(7n, 'lost'))).toEqual([]);
  });

  it('of different jobs are separate', () => {
    expect(findings([{ tick: 5 }, { tick: 5, job: 'again' }])).toEqual([]);
  });

  describe('of a job that is rerun', () => {
    const again = (special: Partial<Run>): Partial<Run> => ({ job: 'again', tick: 5, ...special });
    const died = [fault({ name: 'process killed', from: 1, until: 1 })];

    it('may be repeated after a fault, with increasing attempts', () => {
      expect(findings([again({}), again({ attempt: 2, from: 5 })], [], died)).toEqual([]);
      expect(findings([again({}), again({ attempt: 1, from: 5 })], [], died)).toHaveLength(1);
    });

    it('must not be repeated without a fault', () => {
      expect(findings([again({}), again({ attempt: 2, from: 5 })])).toHaveLength(1);
      expect(findings([again({ from: 2 }), again({ attempt: 2, from: 5 })], [], died)).toHaveLength(1);
    });

    it('must not begin more than three times', () => {
      const attempts = [1, 2, 3].map((attempt) => again({ attempt, from: attempt }));
      const faults = [fault({ from: 0, until: 20 })];
      expect(findings(attempts, [], faults)).toEqual([]);
      expect(findings([...attempts, again({ attempt: 4, from: 4 })], [], faults)).toHaveLength(1);
    });

    it('may begin with a later attempt, because the previous one died before its work', () => {
      expect(findings([again({ attempt: 2 })])).toEqual([]);
    });
  });

  describe('of a fired tick', () => {
    const before = fired(0, 0);

    it('must not be missing without a fault', () => {
      expect(findings([{ tick: 0 }], [before, fired(100, 100)])).toHaveLength(1);
      expect(findings([{ tick: 0 }, { tick: 100, from: 100 }], [before, fired(100, 100)])).toEqual([]);
    });

    it('may be missing right after the start, and around a fault', () => {
      expect(findings([], [before, fired(10, 10)])).toEqual([]);
      expect(findings([{ tick: 0 }], [before, fired(100, 100)], [fault({ from: 60, until: 70 })])).toEqual([]);
      expect(findings([{ tick: 0 }], [before, fired(100, 100)], [fault({ from: 20, until: 30 })])).toHaveLength(1);
    });

    it('may be missing while servers are away', () => {
      const away = made({ on: 'counter', key: 'visits', ask: 'get' }, [90, 95], { outcome: 'unknown' });
      expect(findings([{ tick: 0 }], [before, fired(100, 100), away])).toEqual([]);
    });

    it('may be missing while an earlier run continues', () => {
      expect(findings([{ tick: 0, until: 105 }], [before, fired(100, 100)])).toEqual([]);
      expect(findings([{ tick: 0, until: 99 }], [before, fired(100, 100)])).toHaveLength(1);
    });

    it('may be missing when a clock that is ahead has reached a later tick', () => {
      expect(findings([{ tick: 0 }, { tick: 200, from: 90, until: 91 }], [before, fired(100, 100)])).toEqual([]);
    });

    it('are missed once, however often the tick was fired', () => {
      expect(findings([{ tick: 0 }], [before, fired(100, 100), fired(100, 102)])).toHaveLength(1);
    });
  });
});
