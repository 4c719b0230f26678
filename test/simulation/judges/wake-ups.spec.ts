import { describe, expect, it } from 'vitest';
import type { MadeZnode } from '../model/contenders.js';
import type { SimulationHistory } from '../model/history.js';
import { made } from './records.js';
import { checkWakeUps } from './wake-ups.js';

const znode = (name: string, madeAt: number, goneAt?: number, key = '/locks/stock'): MadeZnode => ({
  path: `${key}/_c_1234-${name}`,
  czxid: BigInt(madeAt),
  session: 'a1',
  madeAt,
  goneAt,
});

const WRITER = znode('__WRIT__0000000003', 100, 200);
/** The findings if this many clients were notified of the deletion, the last of them at 250. */
const findings = (
  clients: number,
  { path }: MadeZnode = WRITER,
  others: readonly MadeZnode[] = [],
  calls: SimulationHistory['calls'] = [],
) =>
  checkWakeUps(
    [{ path, sessions: new Set(Array.from({ length: clients }, (_, at) => BigInt(at))), lastAt: 250 }],
    [WRITER, ...others],
    { calls },
  );

describe('the deletion of a contender', () => {
  it.each(['lock-0000000007', '__WRIT__0000000007'])('notifies few clients: %s', (name) => {
    const one = znode(name, 100, 200);
    expect(findings(3, one, [one])).toEqual([]);
    expect(findings(4, one, [one])).toMatchObject([{ check: 'wake-ups' }]);
  });

  it.each(['__READ__0000000007', 'latch-0000000007'])('may notify many clients if it has another kind: %s', (name) => {
    const one = znode(name, 100, 200);
    expect(findings(8, one, [one])).toEqual([]);
  });

  it('is distinct from the deletion of other znodes', () => {
    expect(findings(8, { ...WRITER, path: '/locks/stock/lease-0000000007' })).toEqual([]);
    expect(findings(8, { ...WRITER, path: '/locks/stock' })).toEqual([]);
  });

  it('may notify each process that revokes the key', () => {
    const revoke = (from: number, until: number, process: string, key = 'stock') =>
      made({ on: 'lock', key, ask: 'revoke' } as const, [from, until], {}, process);
    const found = (...calls: ReturnType<typeof revoke>[]) => findings(4, WRITER, [], calls);
    expect(found(revoke(150, 300, 'a'))).toEqual([]);
    expect(found(revoke(250, 300, 'a'))).toEqual([]);
    expect(found(revoke(251, 300, 'a'))).toHaveLength(1);
    expect(found(revoke(50, 100, 'a'))).toEqual([]);
    expect(found(revoke(50, 99, 'a'))).toHaveLength(1);
    expect(found(revoke(150, 300, 'a', 'other'))).toHaveLength(1);
    expect(findings(5, WRITER, [], [revoke(150, 300, 'a'), revoke(160, 300, 'a')])).toHaveLength(1);
    expect(findings(5, WRITER, [], [revoke(150, 300, 'a'), revoke(160, 300, 'b')])).toEqual([]);
  });

  describe('while readers wait', () => {
    const reader = (madeAt: number, goneAt?: number, key?: string) => znode('__READ__0000000004', madeAt, goneAt, key);

    it('may notify each of them', () => {
      expect(findings(4, WRITER, [reader(150)])).toEqual([]);
      expect(findings(5, WRITER, [reader(150)])).toHaveLength(1);
      expect(findings(5, WRITER, [reader(150), reader(150, 300)])).toEqual([]);
    });

    it('may notify readers queued before the last notification', () => {
      expect(findings(4, WRITER, [reader(250)])).toEqual([]);
      expect(findings(4, WRITER, [reader(251)])).toHaveLength(1);
    });

    it('does not notify readers that left before the contender was created', () => {
      expect(findings(4, WRITER, [reader(50, 100)])).toEqual([]);
      expect(findings(4, WRITER, [reader(50, 99)])).toHaveLength(1);
    });

    it('does not notify readers of another key', () => {
      expect(findings(4, WRITER, [reader(150, 300, '/locks/prices')])).toHaveLength(1);
      expect(findings(4, WRITER, [reader(150, 300, '/locks/stock/coupons')])).toHaveLength(1);
    });
  });
});
