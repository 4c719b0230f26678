import { describe, expect, it } from 'vitest';
import type { Answer } from '../model/call.js';
import { made } from './records.js';
import { checkStock } from './stock.js';

type Stretch = readonly [from: number, until?: number];

const ON = { on: 'stock', key: 'mug' } as const;
const restock = (units: number, at: Stretch, answer: Partial<Answer> = {}, restockId = 'first') =>
  made({ ...ON, ask: 'restock', units, restockId }, at, answer);
const sell = (orderId: string, units: number, at: Stretch, answer: Partial<Answer> = {}) =>
  made({ ...ON, ask: 'deduct', units, orderId }, at, { value: units, ...answer });
const refund = (orderId: string, at: Stretch, value = true, answer: Partial<Answer> = {}) =>
  made({ ...ON, ask: 'refund', orderId }, at, { value, ...answer });
const available = (value: number, at: Stretch) => made({ ...ON, ask: 'available' }, at, { value });
const soldOut = { outcome: 'nothing' } as const;
const unknown = { outcome: 'unknown' } as const;
const findings = (...calls: ReturnType<typeof made>[]) => checkStock({ calls: calls as never });
const FIRST = restock(10, [0, 1]);

describe('a stock', () => {
  it('is not oversold', () => {
    expect(findings(FIRST, sell('a', 6, [2, 3]), sell('b', 4, [2, 3]))).toEqual([]);
    expect(findings(FIRST, sell('a', 6, [2, 3]), sell('b', 5, [2, 4]))).toHaveLength(1);
  });

  it('may be sold from a concurrent delivery, even of unknown outcome', () => {
    const sales = [sell('a', 6, [2, 3]), sell('b', 5, [2, 6])];
    expect(findings(FIRST, ...sales, restock(1, [5, 9], {}, 'second'))).toEqual([]);
    expect(findings(FIRST, ...sales, restock(1, [5], {}, 'second'))).toEqual([]);
    expect(findings(FIRST, ...sales, restock(1, [7, 9], {}, 'second'))).toHaveLength(1);
    expect(findings(FIRST, ...sales, restock(1, [5, 9], { outcome: 'timeout' }, 'second'))).toHaveLength(1);
  });

  it('counts a repeated delivery once', () => {
    expect(findings(FIRST, restock(10, [2, 3]), sell('a', 11, [4, 5]))).toHaveLength(1);
  });

  it('must not be sold out while there are enough units', () => {
    expect(findings(FIRST, sell('a', 3, [2, 3], soldOut))).toHaveLength(1);
    expect(findings(FIRST, sell('a', 8, [2, 3]), sell('b', 3, [4, 5], soldOut))).toEqual([]);
  });

  it('may be sold out during another sale, or after one of unknown outcome', () => {
    expect(findings(FIRST, sell('a', 8, [2, 6]), sell('b', 3, [4, 5], soldOut))).toEqual([]);
    expect(findings(FIRST, sell('a', 8, [2]), sell('b', 3, [400, 500], soldOut))).toEqual([]);
    expect(findings(FIRST, sell('a', 8, [2, 3], { outcome: 'timeout' }), sell('b', 3, [4, 5], soldOut))).toHaveLength(
      1,
    );
  });

  it('may be sold out for a moment, and refunded', () => {
    const bought = [FIRST, sell('a', 8, [2, 3])];
    expect(findings(...bought, refund('a', [4, 6]), sell('b', 3, [5, 7], soldOut))).toEqual([]);
    expect(findings(...bought, refund('a', [4, 5]), sell('b', 3, [6, 7], soldOut))).toHaveLength(1);
  });

  it('reports the units that are left', () => {
    const bought = [FIRST, sell('a', 8, [2, 3])];
    expect(findings(...bought, available(2, [4, 5]))).toEqual([]);
    expect(findings(...bought, available(3, [4, 5]))).toHaveLength(1);
    expect(findings(...bought, available(1, [4, 5]))).toHaveLength(1);
    expect(findings(...bought, refund('a', [4, 9]), available(10, [5, 6]))).toEqual([]);
    expect(findings(...bought, sell('b', 1, [4]), available(1, [50, 60]))).toEqual([]);
  });

  it('counts an order once, however often it is repeated', () => {
    const orders = [sell('a', 8, [2, 3], unknown), sell('a', 8, [4, 5]), sell('a', 8, [6, 7])];
    expect(findings(FIRST, ...orders, available(2, [8, 9]))).toEqual([]);
    expect(findings(FIRST, ...orders, available(10, [8, 9]))).toHaveLength(1);
  });
});

describe('an order', () => {
  it('has as many units as were ordered', () => {
    expect(findings(FIRST, sell('a', 3, [2, 3], { value: 2 }))).toHaveLength(1);
  });

  it('is refunded once', () => {
    const bought = [FIRST, sell('a', 3, [2, 3])];
    expect(findings(...bought, refund('a', [4, 5]), refund('a', [6, 7], false))).toEqual([]);
    expect(findings(...bought, refund('a', [4, 5]), refund('a', [6, 7]))).toHaveLength(1);
  });

  it('that was never sold has no refund', () => {
    expect(findings(FIRST, sell('a', 30, [2, 3], soldOut), refund('a', [4, 5]))).toHaveLength(1);
    expect(findings(FIRST, sell('a', 3, [2], {}), refund('a', [4, 5]))).toEqual([]);
  });

  it('is refused only after its refund, and never sold after it', () => {
    const refused = { outcome: 'refused' } as const;
    const bought = [FIRST, sell('a', 3, [2, 3])];
    expect(findings(...bought, refund('a', [4, 5]), sell('a', 3, [6, 7], refused))).toEqual([]);
    expect(findings(...bought, sell('a', 3, [6, 7], refused))).toHaveLength(1);
    expect(findings(...bought, refund('a', [4, 5]), sell('a', 3, [6, 7]))).toHaveLength(1);
  });

  it('that was sold must not be sold out when repeated', () => {
    expect(findings(FIRST, sell('a', 9, [2, 3]), sell('a', 9, [4, 5], soldOut))).toHaveLength(1);
  });
});
