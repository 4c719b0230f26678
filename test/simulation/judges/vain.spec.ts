import { describe, expect, it } from 'vitest';
import type { Attempt, Fault, Hold } from '../../robustness/model/history.js';
import { attempt, fault, hold } from '../../robustness/validate/records.js';
import type { MadeCall } from '../model/history.js';
import { made } from './records.js';
import { checkVainWaits } from './vain.js';

const CALM_MS = 100;
const IDLE_MS = 50;

interface Setting {
  readonly holds?: readonly Hold[];
  readonly calls?: readonly MadeCall[];
  readonly faults?: readonly Fault[];
  readonly idleMs?: number | undefined;
}

const findings = (
  attempts: readonly Attempt[],
  { holds = [], calls = [], faults = [], idleMs = IDLE_MS }: Setting = {},
) => checkVainWaits({ attempts, holds, calls, faults }, { calmMs: CALM_MS, idleMs });

const held = (from: number, seenUntil: number, special: Partial<Hold> = {}) => hold({ from, seenUntil, ...special });

describe('a vain wait', () => {
  const waited = (special: Partial<Attempt> = {}) =>
    attempt({ outcome: 'timeout', askedAt: 1_000, waitMs: 200, answeredAt: 1_200, ...special });

  it('times out while nobody has the key', () => {
    expect(findings([waited()])).toMatchObject([{ check: 'liveness' }]);
  });

  it('is excused if the key was held shortly before the end', () => {
    expect(findings([waited()], { holds: [held(0, 1_150)] })).toEqual([]);
    expect(findings([waited()], { holds: [held(0, 1_149)] })).toHaveLength(1);
    expect(findings([waited()], { holds: [held(1_200, 2_000)] })).toEqual([]);
    expect(findings([waited()], { holds: [held(1_201, 2_000)] })).toHaveLength(1);
  });

  it('is excused if a holder that seldom looks released the key shortly before the end', () => {
    const released = (endedAt: number) => [held(0, 500, { end: 'released', endedAt })];
    expect(findings([waited()], { holds: released(1_150) })).toEqual([]);
    expect(findings([waited()], { holds: released(1_149) })).toHaveLength(1);
    expect(findings([waited()], { holds: [held(0, 500, { end: 'lost', endedAt: 1_150 })] })).toHaveLength(1);
  });

  it('is excused if one of the keys was held', () => {
    const both = waited({ keys: ['a', 'b'] });
    expect(findings([both], { holds: [held(0, 2_000, { key: 'b' })] })).toEqual([]);
    expect(findings([both], { holds: [held(0, 2_000, { key: 'c' })] })).toHaveLength(1);
  });

  it('is excused if a segment of the key was held', () => {
    expect(findings([waited()], { holds: [held(0, 2_000, { key: 'k/#0001' })] })).toEqual([]);
    expect(findings([waited()], { holds: [held(0, 2_000, { key: 'other/#0001' })] })).toHaveLength(1);
  });

  it('is not excused by a hold of another kind with the same key', () => {
    expect(findings([waited()], { holds: [held(0, 2_000, { kind: 'permits' })] })).toHaveLength(1);
  });

  it.each(['granted', 'aborted', 'not this time', 'failed'] as const)('does not end with: %s', (outcome) => {
    expect(findings([waited({ outcome })])).toEqual([]);
  });

  it('is excused if the caller had hardly any time', () => {
    expect(findings([waited({ waitMs: IDLE_MS })])).toHaveLength(1);
    expect(findings([waited({ waitMs: IDLE_MS - 1 })])).toEqual([]);
  });

  it('is not judged during a fault, nor shortly after it', () => {
    expect(findings([waited()], { faults: [fault({ from: 0, until: 900 })] })).toEqual([]);
    expect(findings([waited()], { faults: [fault({ from: 0, until: 899 })] })).toHaveLength(1);
    expect(findings([waited()], { faults: [fault({ from: 1_200, until: 1_300 })] })).toEqual([]);
    expect(findings([waited()], { faults: [fault({ from: 1_201, until: 1_300 })] })).toHaveLength(1);
  });

  it('is not judged without a limit for handing a key on', () => {
    expect(checkVainWaits({ attempts: [waited()], holds: [], calls: [], faults: [] }, { calmMs: 0 })).toEqual([]);
  });

  describe('behind a set that waits for another key', () => {
    const before = (special: Partial<Attempt> = {}) =>
      attempt({ keys: ['k', 'other'], askedAt: 900, waitMs: 5_000, answeredAt: 1_300, outcome: 'granted', ...special });
    const holds = [held(0, 2_000, { key: 'other' })];

    it('is excused', () => {
      expect(findings([waited(), before()], { holds })).toEqual([]);
      expect(findings([waited(), before()], { holds: [] })).toHaveLength(1);
      expect(findings([waited(), before({ keys: ['other'] })], { holds })).toHaveLength(1);
    });

    it('is excused only while the set waits', () => {
      expect(findings([waited(), before({ answeredAt: 1_150 })], { holds })).toEqual([]);
      expect(findings([waited(), before({ answeredAt: 1_149 })], { holds })).toHaveLength(1);
      expect(findings([waited(), before({ answeredAt: undefined, outcome: undefined })], { holds })).toEqual([]);
    });

    it('is not excused if the set came later', () => {
      expect(findings([waited(), before({ askedAt: 1_200 })], { holds })).toEqual([]);
      expect(findings([waited(), before({ askedAt: 1_201 })], { holds })).toHaveLength(1);
    });

    it('is excused if that set is behind another one, in any order', () => {
      const far = before({ keys: ['other', 'last'] });
      const last = [held(0, 2_000, { key: 'last' })];
      expect(findings([waited(), before(), far], { holds: last })).toEqual([]);
      expect(findings([waited(), far, before()], { holds: last })).toEqual([]);
      expect(findings([waited(), far], { holds: last })).toHaveLength(1);
    });
  });
});

describe('a reader that waits', () => {
  const reader = (special: Partial<Attempt> = {}) =>
    attempt({ mode: 'read', askedAt: 1_000, answeredAt: 1_100, ...special });
  const asking = (special: Partial<Attempt>) =>
    attempt({ mode: 'write', askedAt: 900, answeredAt: 1_300, outcome: 'aborted', ...special });

  it('waits for a writer', () => {
    expect(findings([reader()])).toMatchObject([{ check: 'liveness' }]);
    expect(findings([reader({ answeredAt: 1_000 + IDLE_MS })])).toHaveLength(1);
    expect(findings([reader({ answeredAt: 1_000 + IDLE_MS - 1 })])).toEqual([]);
    expect(findings([attempt({ mode: 'write', askedAt: 1_000, answeredAt: 1_100 })])).toEqual([]);
  });

  it.each(['write', 'exclusive'] as const)('may wait for a holder in the mode: %s', (mode) => {
    expect(findings([reader()], { holds: [held(0, 1_050, { mode })] })).toEqual([]);
    expect(findings([reader()], { holds: [held(0, 1_049, { mode })] })).toHaveLength(1);
    expect(findings([reader()], { holds: [held(1_100, 2_000, { mode })] })).toEqual([]);
    expect(findings([reader()], { holds: [held(1_101, 2_000, { mode })] })).toHaveLength(1);
  });

  it('must not wait for another reader, for another key, or for another kind', () => {
    expect(findings([reader()], { holds: [held(0, 2_000, { mode: 'read' })] })).toHaveLength(1);
    expect(findings([reader()], { holds: [held(0, 2_000, { key: 'other' })] })).toHaveLength(1);
    expect(findings([reader()], { holds: [held(0, 2_000, { kind: 'permits' })] })).toHaveLength(1);
    expect(findings([reader(), asking({ mode: 'read', answeredAt: 905 })])).toHaveLength(1);
    expect(findings([reader(), asking({ keys: ['other'] })])).toHaveLength(1);
  });

  it('may wait for a caller that is about to write', () => {
    expect(findings([reader(), asking({ askedAt: 1_100 })])).toEqual([]);
    expect(findings([reader(), asking({ askedAt: 1_101 })])).toHaveLength(1);
    expect(findings([reader(), asking({ answeredAt: 1_050 })])).toEqual([]);
    expect(findings([reader(), asking({ answeredAt: 1_049 })])).toHaveLength(1);
    expect(findings([reader(), asking({ answeredAt: undefined, outcome: undefined })])).toEqual([]);
    expect(findings([reader(), asking({ keys: ['other', 'k'] })])).toEqual([]);
  });

  it('is not judged during a fault', () => {
    expect(findings([reader()], { faults: [fault({ from: 0, until: 900 })] })).toEqual([]);
    expect(findings([reader()], { faults: [fault({ from: 0, until: 899 })] })).toHaveLength(1);
  });
});

describe('a revocation', () => {
  const revoked = (until = 1_100, ask: 'revoke' | 'contenders' = 'revoke') =>
    made({ on: 'lock', key: 'k', ask }, [1_000, until]);
  const waiting = (holds: readonly Hold[], call = revoked(), faults: readonly Fault[] = []) =>
    findings([], { holds, calls: [call], faults });

  it('must not wait while nobody works under the key', () => {
    expect(waiting([])).toMatchObject([{ check: 'liveness' }]);
    expect(waiting([held(1_001, 1_050)])).toEqual([]);
    expect(waiting([held(1_001, 1_049)])).toHaveLength(1);
    expect(waiting([held(1_001, 2_000, { key: 'other' })])).toHaveLength(1);
    expect(waiting([held(1_001, 2_000, { kind: 'permits' })])).toHaveLength(1);
  });

  it('must not wait for a holder that continues to work', () => {
    const next = held(1_049, 1_090);
    expect(waiting([held(0, 1_050), next])).toHaveLength(1);
    expect(waiting([held(0, 1_049), next])).toEqual([]);
    expect(waiting([held(1_000, 1_090)])).toHaveLength(1);
    expect(waiting([held(1_001, 1_090)])).toEqual([]);
    expect(waiting([held(0, 1_090, { key: 'other' }), next])).toEqual([]);
  });

  it('may wait for some round trips', () => {
    expect(waiting([], revoked(1_000 + IDLE_MS))).toHaveLength(1);
    expect(waiting([], revoked(1_000 + IDLE_MS - 1))).toEqual([]);
  });

  it('is distinct from a look at the contenders', () => {
    expect(waiting([], revoked(1_100, 'contenders'))).toEqual([]);
  });

  it('is not judged during a fault', () => {
    expect(waiting([], revoked(), [fault({ from: 0, until: 900 })])).toEqual([]);
    expect(waiting([], revoked(), [fault({ from: 0, until: 899 })])).toHaveLength(1);
  });
});
