import { describe, expect, it } from 'vitest';
import type { History } from '../model/history.js';
import { checkLiveness, PROCESS_STOPPED } from './liveness.js';
import { attempt, end, fault } from './records.js';

const NOTHING = {
  holds: [],
  attempts: [],
  writes: [],
  answers: [],
  faults: [],
  finals: [],
  finalsDue: 0,
  ends: [],
  leftovers: [],
  warnings: [],
};
const findings = (history: Partial<History>) => checkLiveness({ ...NOTHING, ...history });
const final = { process: 'worker 1', key: 'k', mode: 'read', tookMs: 5 } as const;

describe('liveness', () => {
  const unanswered = attempt({ answeredAt: undefined, outcome: undefined });

  it('finds an acquisition that never ended', () => {
    expect(findings({ attempts: [unanswered], ends: [end({})] })).toHaveLength(1);
    expect(findings({ attempts: [unanswered], ends: [end({ end: 'had to be killed' })] })).toHaveLength(1);
  });

  it('needs no answer of a process that was killed', () => {
    expect(findings({ attempts: [unanswered], ends: [end({ end: 'killed by a fault' })] })).toEqual([]);
  });

  it('finds an acquisition that ended long after its deadline', () => {
    expect(findings({ attempts: [attempt({ waitMs: 100, answeredAt: 60_000 })] })).toHaveLength(1);
  });

  it('does not count the time in which the process was stopped, and only that', () => {
    const attempts = [attempt({ waitMs: 100, answeredAt: 60_000 })];
    const stopped = fault({ name: PROCESS_STOPPED, from: 50, until: 55_000 });
    expect(findings({ attempts, faults: [stopped] })).toEqual([]);
    expect(findings({ attempts, faults: [{ ...stopped, target: 'worker 2' }] })).toHaveLength(1);
    expect(findings({ attempts, faults: [{ ...stopped, name: 'black hole' }] })).toHaveLength(1);
  });

  it('finds an acquisition of the final round that failed or did not end', () => {
    expect(findings({ finals: [{ ...final, error: 'LockTimeoutError' }], finalsDue: 1 })).toHaveLength(1);
    expect(findings({ finals: [final], finalsDue: 2 })).toHaveLength(1);
  });

  it('accepts acquisitions in time and a complete final round', () => {
    expect(findings({ attempts: [attempt({})], ends: [end({})], finals: [final], finalsDue: 1 })).toEqual([]);
  });
});
