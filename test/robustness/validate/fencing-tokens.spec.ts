import { describe, expect, it } from 'vitest';
import { checkFencingTokens } from './fencing-tokens.js';
import { SESSION_CLOSED } from './closed-sessions.js';
import { fault, hold } from './records.js';

const findings = (...holds: Parameters<typeof hold>[0][]) =>
  checkFencingTokens({ holds: holds.map((special, from) => hold({ from, ...special })), faults: [] });

describe('fencing tokens', () => {
  it('find a token that is smaller than the one before', () => {
    expect(findings({ token: 7n }, { token: 5n })).toHaveLength(1);
  });

  it('find a token that is repeated', () => {
    expect(findings({ token: 7n }, { token: 7n })).toHaveLength(1);
  });

  it('find a token that is smaller than an earlier one, with others in between', () => {
    expect(findings({ token: 7n }, { token: 9n, mode: 'read' }, { token: 8n })).toHaveLength(1);
  });

  it('find a reader with a smaller token than the writer before it', () => {
    expect(
      findings({ token: 7n, mode: 'write' }, { token: 8n, mode: 'read' }, { token: 6n, mode: 'read' }),
    ).toHaveLength(1);
  });

  it('find a writer with a smaller token than a reader before it', () => {
    expect(
      findings({ token: 7n, mode: 'read' }, { token: 9n, mode: 'read' }, { token: 8n, mode: 'write' }),
    ).toHaveLength(1);
  });

  it('are compared in the order in which leases began, not in that of the records', () => {
    expect(findings({ token: 9n, from: 20 }, { token: 7n, from: 10 })).toEqual([]);
  });

  describe('of a holder whose session was closed on purpose', () => {
    const early = hold({ process: 'a', token: 9n, from: 10, seenUntil: 20 });
    const late = hold({ process: 'b', token: 7n, from: 11, seenUntil: 21 });
    const closed = (target: string, from = 5) => fault({ name: SESSION_CLOSED, target, from, until: 30 });
    const found = (faults: ReturnType<typeof fault>[]) => checkFencingTokens({ holds: [early, late], faults });

    it('are not checked, because its grant was still on the way', () => {
      expect(found([closed('b')])).toEqual([]);
    });

    it('are not looked at when its process hands the lease over before it hears of that', () => {
      const [first, next] = [0n, 1n].map((handOver) => (7n << 16n) + handOver) as [bigint, bigint];
      const granted = hold({ process: 'b', token: first, from: 1, seenUntil: 8 });
      const other = hold({ process: 'a', token: 9n << 16n, from: 10, seenUntil: 12 });
      const handedOver = hold({ process: 'b', token: next, from: 15, seenUntil: 16 });
      const closing = fault({ name: SESSION_CLOSED, target: 'b', from: 5, until: 9 });
      const of = (...holds: ReturnType<typeof hold>[]) => checkFencingTokens({ holds, faults: [closing] });
      expect(of(granted, other, handedOver)).toEqual([]);
      expect(of({ ...granted, token: 6n << 16n }, other, handedOver)).toHaveLength(1);
      expect(of({ ...granted, process: 'c' }, other, handedOver)).toHaveLength(1);
    });

    it.each([
      ['another one’s', [closed('a')]],
      ['later', [closed('b', 22)]],
    ])('are checked when it was %s', (_whose, faults) => {
      expect(found(faults)).toHaveLength(1);
    });
  });

  it('are not compared between readers, nor between keys', () => {
    expect(findings({ token: 9n, mode: 'read' }, { token: 7n, mode: 'read' }, { token: 1n, key: 'other' })).toEqual([]);
  });
});
