import { describe, expect, it } from 'vitest';
import type { History, RegisterWrite } from '../model/history.js';
import { SESSION_CLOSED } from './closed-sessions.js';
import { answer, fault, hold, write } from './records.js';
import { checkRegister } from './register.js';

const findings = (history: Partial<History>) =>
  checkRegister({ holds: [], writes: [], answers: [], faults: [], ...history });
const findingsOf = (...writes: Partial<RegisterWrite>[]) => findings({ writes: writes.map(write) });

describe('the register', () => {
  it.each([
    ['exclusive', 'exclusive'],
    ['read', 'write'],
    ['write', 'read'],
  ] as const)('is reported to have gone back from %s to %s', (before, after) => {
    expect(findingsOf({ mode: before, token: 7n }, { mode: after, token: 6n })).toHaveLength(1);
  });

  it('is reported when other records are in between', () => {
    const writes = [7n, 8n, 6n].map((token) => ({ token }));
    expect(findingsOf(...writes)).toHaveLength(1);
    expect(findingsOf({ token: 7n }, { token: 9n, mode: 'read' }, { token: 5n, mode: 'read' })).toHaveLength(1);
  });

  it('may refuse a stale write, accept readers in any order, and accept equal tokens', () => {
    expect(findingsOf({ token: 7n }, { token: 6n, accepted: false }, { token: 7n })).toEqual([]);
    expect(findingsOf({ token: 7n, mode: 'read' }, { token: 6n, mode: 'read' }, { token: 2n, key: 'other' })).toEqual(
      [],
    );
  });

  describe('a refusal of a holder', () => {
    const stood = hold({ id: 'h', process: 'a', from: 0, seenUntil: 10 });
    const refusal = answer({ hold: 'h', accepted: false, answeredAt: 8 });

    it('whose lease was still held is found', () => {
      expect(findings({ holds: [stood], answers: [refusal] })).toHaveLength(1);
    });

    it('whose lease was gone by then is accepted', () => {
      expect(findings({ holds: [{ ...stood, seenUntil: 7 }], answers: [refusal] })).toEqual([]);
    });

    it('whose session was closed on purpose is accepted', () => {
      const faults = [fault({ name: SESSION_CLOSED, target: 'a', from: 5, until: 6 })];
      expect(findings({ holds: [stood], answers: [refusal], faults })).toEqual([]);
    });
  });
});
