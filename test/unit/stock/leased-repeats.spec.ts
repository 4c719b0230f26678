import { describe, expect, it } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { hash } from '../../../lib/composite/segment-route.js';
import type { RecordChange } from '../../../lib/contract/record-store.js';
import { openDoomedStock } from './leased-shops.js';

describe('an order that is repeated after its first process was given up', () => {
  /**
   * A first process that is held up in front of its sale, and whose units were put back. Its sale goes out while the
   * repeated order takes units.
   */
  async function lateSale(levels: readonly number[], routeBy: string) {
    const opened = openDoomedStock(levels);
    const { stock, ledger, records, die, expire, survivor } = opened;
    const [revived, answered] = [deferred(), deferred()];
    let held: readonly RecordChange[] | undefined;
    records.beforeWrite = async (changes) => {
      const isSale = changes.some(({ name, value }) => name.includes('/orders/x') && typeof value === 'string');
      if (!isSale || held) return;
      held = changes;
      void die();
      await revived.promise;
    };
    records.afterWrite = async (changes) => {
      if (changes === held) answered.resolve();
    };
    const late = stock.deduct(3, { orderId: 'x', routeBy, waitMs: 5_000 });
    await expire();
    expect(await survivor.recover()).toBe(3);
    const whileTaking = async (call: string) => {
      if (call !== 'take') return;
      revived.resolve();
      await answered.promise;
    };
    return { ledger, survivor, late, letTheSaleOut: () => (ledger.before = whileTaking) };
  }

  it('is not sold by the late sale of the first attempt', async () => {
    const { ledger, survivor, late, letTheSaleOut } = await lateSale([4], 'any');
    expect((await survivor.deduct(4))?.units).toBe(4);
    letTheSaleOut();
    expect(await survivor.deduct(3, { orderId: 'x' })).toBeNull();
    expect(await late).toBeNull();
    expect([ledger.units, ledger.unitsTaken]).toEqual([0, 4]);
  });

  it('is refunded to the segment that it was sold from', async () => {
    const [zero, one] = [0, 1].map((wanted) => ['a', 'b', 'c', 'd'].find((route) => hash(route) % 2 === wanted)!);
    const { ledger, survivor, late, letTheSaleOut } = await lateSale([4, 4], zero!);
    letTheSaleOut();
    const sale = await survivor.deduct(3, { orderId: 'x', routeBy: one! });
    expect(sale?.parts).toEqual([{ segment: 1, units: 3 }]);
    expect(await late).toEqual(sale);
    expect(await survivor.refund('x')).toBe(true);
    expect(ledger.units).toBe(8);
  });
});
