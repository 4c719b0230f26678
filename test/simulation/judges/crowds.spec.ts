import { describe, expect, it } from 'vitest';
import type { Attempt, Fault, Outcome } from '../../robustness/model/history.js';
import { attempt, fault } from '../../robustness/validate/records.js';
import type { Contender } from '../model/history.js';
import { CROWD_KEY, OWN_CROWD_KEY } from '../traffic/keys.js';
import { checkCrowds } from './crowds.js';

const CALM_MS = 100;
const OWN_KEY = `${OWN_CROWD_KEY}/app-1.1/crowd.0`;

interface Setting {
  readonly contenders?: readonly Contender[];
  readonly faults?: readonly Fault[];
  readonly isShared?: boolean | undefined;
}

const findings = (attempts: readonly Attempt[], { contenders = [], faults = [], isShared = true }: Setting = {}) =>
  checkCrowds({ attempts, contenders, faults, calls: [] }, { calmMs: CALM_MS, isShared });

/** A crowd of that name: callers that asked at 1000, and had these outcomes by 1010. */
const crowd = (key: string, outcomes: readonly Outcome[], special: Partial<Attempt> = {}, name = 'crowd.0/1') =>
  outcomes.map((outcome, place) =>
    attempt({ id: `${name}.${place}`, keys: [key], askedAt: 1_000, answeredAt: 1_010, outcome, ...special }),
  );
const contender = (key: string, special: Partial<Contender> = {}): Contender => ({
  key: `/locks/${key}`,
  mode: 'exclusive',
  session: 's',
  order: 1,
  madeAt: 1_005,
  ...special,
});

describe('callers of one process that try a key of their own', () => {
  const tries = (outcomes: readonly Outcome[], special: Partial<Attempt> = {}) => crowd(OWN_KEY, outcomes, special);

  it('must not all be refused', () => {
    expect(findings(tries(['not this time', 'not this time']))).toMatchObject([{ check: 'refusals' }]);
    expect(findings(tries(['not this time', 'granted']))).toEqual([]);
  });

  it('may all fail in another way', () => {
    expect(findings(tries(['timeout', 'aborted']))).toEqual([]);
    expect(findings(tries(['timeout', 'not this time']))).toHaveLength(1);
  });

  it('may all be refused beside one whose process was killed before its answer', () => {
    const [refused, killed] = tries(['not this time', 'granted']) as [Attempt, Attempt];
    expect(findings([refused, { ...killed, outcome: undefined, answeredAt: undefined }])).toEqual([]);
  });

  it('are one crowd only if they ask at once', () => {
    const next = crowd(OWN_KEY, ['granted'], { askedAt: 2_000, answeredAt: 2_010 }, 'crowd.0/2');
    expect(findings([...tries(['not this time']), ...next])).toHaveLength(1);
  });

  it('may all be refused if other processes take the key', () => {
    expect(findings(crowd('stock', ['not this time', 'not this time']))).toEqual([]);
    expect(findings(crowd(`${OWN_CROWD_KEY}s/app-1.1`, ['not this time']))).toEqual([]);
  });

  it('may all be refused during a fault, and shortly after it', () => {
    const all = tries(['not this time', 'not this time']);
    expect(findings(all, { faults: [fault({ from: 0, until: 900 })] })).toEqual([]);
    expect(findings(all, { faults: [fault({ from: 0, until: 899 })] })).toHaveLength(1);
    expect(findings(all, { faults: [fault({ from: 1_010, until: 2_000 })] })).toEqual([]);
    expect(findings(all, { faults: [fault({ from: 1_011, until: 2_000 })] })).toHaveLength(1);
  });

  describe('while no server is there', () => {
    const away = (from: number, until: number, name = 'lost-quorum') => ({ faults: [fault({ name, from, until })] });
    const late = tries(['not this time', 'granted'], { askedAt: 9_000, answeredAt: 9_010 });

    it('must not be refused', () => {
      expect(findings(late, away(0, 9_010))).toMatchObject([{ check: 'refusals' }]);
      expect(findings(tries(['granted'], { askedAt: 9_000, answeredAt: 9_010 }), away(0, 9_010))).toEqual([]);
    });

    it('may be refused before they know of the loss', () => {
      expect(findings(late, away(7_000, 9_010))).toHaveLength(1);
      expect(findings(late, away(7_001, 9_010))).toEqual([]);
    });

    it('may be refused when servers are back', () => {
      expect(findings(late, away(0, 9_009))).toEqual([]);
    });

    it('may be refused when another event has brought servers back', () => {
      const seen = (special: Partial<Contender>) => ({ ...away(0, 9_010), contenders: [contender('x', special)] });
      expect(findings(late, seen({ madeAt: 2_000 }))).toEqual([]);
      expect(findings(late, seen({ madeAt: 9_010 }))).toEqual([]);
      expect(findings(late, seen({ madeAt: 1_000, goneAt: 8_000 }))).toEqual([]);
      expect(findings(late, seen({ madeAt: 1_999 }))).toHaveLength(1);
      expect(findings(late, seen({ madeAt: 1_000, goneAt: 9_011 }))).toHaveLength(1);
    });

    it('are distinct from those that lost only one server', () => {
      expect(findings(late, away(0, 9_010, 'server-kill'))).toEqual([]);
    });
  });

  describe('that share a contender', () => {
    const granted = tries(['granted', 'granted']);
    const made = (count: number, special: Partial<Contender> = {}) =>
      Array.from({ length: count }, () => contender(OWN_KEY, special));

    it('must not create one each', () => {
      expect(findings(granted, { contenders: made(3) })).toEqual([]);
      expect(findings(granted, { contenders: made(4) })).toMatchObject([{ check: 'requests' }]);
    });

    it('are distinct from those that do not', () => {
      expect(findings(granted, { contenders: made(4), isShared: false })).toEqual([]);
      expect(checkCrowds({ attempts: granted, contenders: made(4), faults: [], calls: [] }, { calmMs: 0 })).toEqual([]);
    });

    it('are judged by the contenders created while they asked', () => {
      expect(findings(granted, { contenders: made(4, { madeAt: 1_000 }) })).toHaveLength(1);
      expect(findings(granted, { contenders: made(4, { madeAt: 999 }) })).toEqual([]);
      expect(findings(granted, { contenders: made(4, { madeAt: 1_010 }) })).toHaveLength(1);
      expect(findings(granted, { contenders: made(4, { madeAt: 1_011 }) })).toEqual([]);
    });

    it('are judged by the contenders of their key', () => {
      expect(findings(granted, { contenders: [...made(3), contender(`${OWN_CROWD_KEY}/app-2.1/crowd.0`)] })).toEqual(
        [],
      );
    });

    it('may create more of them during a fault', () => {
      const faults = [fault({ from: 0, until: 900 })];
      expect(findings(granted, { contenders: made(4), faults })).toEqual([]);
    });
  });
});

describe('callers of one process that wait for a key', () => {
  const STANDING = contender(CROWD_KEY, { madeAt: 1_000, goneAt: 1_200 });
  /** Waiters that asked one after the other, and were answered at these times. */
  const waiters = (...answers: readonly (number | [answeredAt: number, outcome: Outcome])[]) =>
    answers.map((one, place) => {
      const [answeredAt, outcome] = typeof one === 'number' ? ([one, 'granted'] as const) : one;
      return attempt({ id: `crowd.0/1.${place}`, keys: [CROWD_KEY], askedAt: 1_000, answeredAt, outcome });
    });
  const inLine = (attempts: readonly Attempt[], setting: Setting = {}) =>
    findings(attempts, { contenders: [STANDING], ...setting });

  it('are granted in the order of their calls', () => {
    expect(inLine(waiters(1_010, 1_010, 1_020))).toEqual([]);
    expect(inLine(waiters(1_010, 1_030, 1_020))).toMatchObject([{ check: 'fifo' }]);
  });

  it('may give up in any order', () => {
    expect(inLine(waiters(1_010, [1_030, 'timeout'], 1_020))).toEqual([]);
    expect(inLine(waiters(1_020, [1_030, 'timeout'], 1_010))).toHaveLength(1);
  });

  it('are judged within their own crowd', () => {
    const next = attempt({ id: 'crowd.0/2.0', keys: [CROWD_KEY], askedAt: 1_001, answeredAt: 1_005 });
    expect(inLine([...waiters(1_010, 1_020), next])).toEqual([]);
  });

  it('are not ordered if the key is their own', () => {
    const own = waiters(1_030, 1_020).map((one) => ({ ...one, keys: [OWN_KEY] }));
    expect(inLine(own)).toEqual([]);
  });

  it('may be granted in any order if they had to create the directory', () => {
    const wrong = waiters(1_030, 1_020);
    expect(inLine(wrong, { contenders: [] })).toEqual([]);
    expect(inLine(wrong, { contenders: [{ ...STANDING, key: '/locks/crowd/read' }] })).toEqual([]);
    expect(inLine(wrong, { contenders: [{ ...STANDING, madeAt: 1_001 }] })).toEqual([]);
    expect(inLine(wrong, { contenders: [{ ...STANDING, goneAt: 1_199 }] })).toEqual([]);
    expect(inLine(wrong, { contenders: [{ ...STANDING, goneAt: undefined }] })).toHaveLength(1);
  });

  it('may be granted in any order during a fault', () => {
    const wrong = waiters(1_030, 1_020);
    expect(inLine(wrong, { faults: [fault({ from: 0, until: 900 })] })).toEqual([]);
    expect(inLine(wrong, { faults: [fault({ from: 0, until: 899 })] })).toHaveLength(1);
  });
});
