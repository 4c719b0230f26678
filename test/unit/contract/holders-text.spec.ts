import { describe, expect, it } from 'vitest';
import type { Contender } from '../../../lib/contract/contender.js';
import { LockTimeoutError } from '../../../lib/contract/errors.js';
import { holdersText, MOST_HOLDERS } from '../../../lib/contract/contender.js';

const SINCE = new Date('2026-03-01T10:00:00.000Z');

const holder = (changes: Partial<Contender> = {}): Contender => ({
  state: 'held',
  mode: 'exclusive',
  owner: { label: 'Orders.place', host: 'shop-1', pid: 42 },
  since: SINCE,
  isOwn: false,
  isLocal: false,
  isKept: false,
  ...changes,
});

describe('the holders of a key', () => {
  it.each<[string, Partial<Contender>]>([
    ['Orders.place (host shop-1, pid 42)', {}],
    ['Orders.place (this process)', { isOwn: true }],
    ['Orders.place (host shop-1, pid 42, reads)', { mode: 'read' }],
    ['Orders.place (host shop-1, pid 42, 1 permit)', { mode: 'permit', permits: 1 }],
    ['Orders.place (host shop-1, pid 42, 3 permits)', { mode: 'permit', permits: 3 }],
    ['Orders.place (host shop-1, pid 42, keeps it without using it)', { isKept: true }],
    ['a caller without a label (host shop-1, pid 42)', { owner: { host: 'shop-1', pid: 42 } }],
    ['a client that does not say its name', { owner: {} }],
  ])('%s', (text, changes) => {
    expect(holdersText([holder(changes)])).toBe(`${text} since 2026-03-01T10:00:00.000Z`);
  });

  it('are three by name, and the number of the others', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((label) => holder({ owner: { label } }));
    const since = 'since 2026-03-01T10:00:00.000Z';
    expect(holdersText(five)).toBe(`a ${since}, b ${since}, c ${since} and 2 more`);
  });

  it('may be more than the question asked for', () => {
    const many = Array.from({ length: MOST_HOLDERS }, () => holder());
    expect(holdersText(many)).toMatch(/ and at least 17 more$/);
  });

  it('cannot forge or flood a log line by a client’s label', () => {
    const text = holdersText([holder({ owner: { label: `a\nERROR forged\u001b[2K\u2028${'x'.repeat(10_000)}` } })]);
    expect(text).toMatch(/^a\?ERROR forged\?\[2K\?x+… since /);
    expect(text.length).toBeLessThan(200);
  });
});

describe('a LockTimeoutError', () => {
  it('names holders, with the key and the wait', () => {
    const error = new LockTimeoutError('orders/42', 1_500, undefined, [holder()]);
    expect(error.message).toBe(
      '"orders/42" is locked by Orders.place (host shop-1, pid 42) since 2026-03-01T10:00:00.000Z (waited 1500 ms)',
    );
    expect(error.holders).toEqual([holder()]);
  });

  it('has a general text where no holder is known', () => {
    const error = new LockTimeoutError('orders/42', 1_500);
    expect(error.message).toBe('"orders/42" is locked by somebody else (waited 1500 ms)');
    expect(error.holders).toEqual([]);
  });
});
