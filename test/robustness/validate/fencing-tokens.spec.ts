import { describe, expect, it } from 'vitest';
import { checkFencingTokens } from './fencing-tokens.js';
import { hold } from './records.js';

const findings = (...holds: Parameters<typeof hold>[0][]) =>
  checkFencingTokens({ holds: holds.map((special, from) => hold({ from, ...special })) });

describe('fencing tokens', () => {
  it('find one that is smaller than the one before', () => {
    expect(findings({ token: 7n }, { token: 5n })).toHaveLength(1);
  });

  it('find one that is the same', () => {
    expect(findings({ token: 7n }, { token: 7n })).toHaveLength(1);
  });

  it('find one that is smaller than an earlier one, with others in between', () => {
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

  it('go by when leases began, not by when they were written down', () => {
    expect(findings({ token: 9n, from: 20 }, { token: 7n, from: 10 })).toEqual([]);
  });

  it('say nothing about readers among each other, nor about other keys', () => {
    expect(findings({ token: 9n, mode: 'read' }, { token: 7n, mode: 'read' }, { token: 1n, key: 'other' })).toEqual([]);
  });
});
