import { describe, expect, it } from 'vitest';
import type { Fault, Hold, ProcessEnd } from '../model/history.js';
import { withFaultsOfServers } from './closed-sessions.js';
import { checkExclusion } from './exclusion.js';
import { checkFencingTokens } from './fencing-tokens.js';
import { end, fault, hold } from './records.js';

const FROZEN = fault({ name: 'leader frozen', from: 1_000, until: 5_000 });
const OLD = end({ output: 'WARN etcd 3.4.23 may end leases that live after a change of the leader: upgrade' });

/** A lease that the leader ends when it wakes, and the next one on the same key. */
const ended = (special: Partial<Hold> = {}) => [
  hold({ from: 5_020, seenUntil: 5_045, endedAt: 5_050, end: 'lost', token: 1n << 16n, ...special }),
  hold({ from: 5_010, seenUntil: 9_000, endedAt: 9_001, end: 'released', token: 2n << 16n }),
];

interface Run {
  readonly holds?: readonly Hold[];
  readonly faults?: readonly Fault[];
  readonly ends?: readonly ProcessEnd[];
  readonly backend?: string | undefined;
}

function findings({ holds = ended(), faults = [FROZEN], ends = [OLD], backend = 'etcd' }: Run): number {
  const history = withFaultsOfServers({ backend, faults, ends, holds });
  return checkExclusion(history).length + checkFencingTokens(history).length;
}

describe('a lease that an old leader of etcd ends when it wakes', () => {
  it('is no broken promise of its holder', () => {
    expect(findings({})).toBe(0);
  });

  it.each([
    ['the servers do not have that fault', { ends: [end({ output: 'connected' })] }],
    ['the backend is another one', { backend: 'redis' }],
    ['no leader was frozen', { faults: [fault({ name: 'leader killed', from: 1_000, until: 5_000 })] }],
    ['the holder hears of it late', { holds: ended({ seenUntil: 6_050, endedAt: 6_060 }) }],
    ['the holder lost it before the leader woke', { faults: [{ ...FROZEN, until: 5_100 }] }],
    ['the holder has released it', { holds: ended({ end: 'released' }) }],
    ['the holder still believes in it', { holds: ended({ end: 'open', endedAt: undefined }) }],
  ] satisfies [string, Run][])('is judged when %s', (_, run) => {
    expect(findings(run)).toBe(2);
  });
});
