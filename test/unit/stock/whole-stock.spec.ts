import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { SegmentLease } from '../../../lib/contract/segment.options.js';
import { HeldSegment } from '../../../lib/composite/held-segment.js';
import { MemoryRecords } from '../../../lib/memory/memory-records.js';
import { OpenOrders } from '../../../lib/stock/open-orders.js';
import type { Order } from '../../../lib/stock/stock-keeper.js';
import { StockNames } from '../../../lib/stock/stock-names.js';
import { WholeStock } from '../../../lib/stock/whole-rounds.js';
import { UnitLedger } from '../../support/unit-ledger.js';

function leaseOn(segment: number, segments: number): SegmentLease {
  const grant = { key: `${segment}`, mode: 'exclusive', fencingToken: 1n, isCurrent: () => true } as const;
  const lease = new GrantedLease({ ...grant, giveBack: async () => {} });
  return new HeldSegment(lease, { of: { scope: {}, identity: 'sku' }, segment, segments });
}

function order(orderId: string, quantity: number): Order {
  return { orderId, quantity, isNamed: true, split: true, routeBy: undefined, signal: NEVER };
}

describe('a stock of which every segment is held', () => {
  it('serves an order that was sold while it waited, however little is left', async () => {
    const store = new UnitLedger([2, 1]);
    const open = new OpenOrders(new MemoryRecords(), new StockNames('sku'));
    const tools = { key: 'sku', store, open };
    const stock = await WholeStock.open(tools, [leaseOn(0, 2), leaseOn(1, 2)]);
    expect(await stock.serve(order('large', 9), tools)).toBeNull();
    const begun = await open.begin('twice', 5, [0]);
    await open.sell(begun!, [{ segment: 0, units: 5 }]);
    const calls = store.calls.length;

    expect(await stock.serve(order('twice', 5), tools)).toMatchObject({ orderId: 'twice', units: 5 });
    expect(await stock.serve(order('other', 4), tools)).toBeNull();
    expect(store.calls).toHaveLength(calls);
    expect(await stock.serve(order('fitting', 3), tools)).toMatchObject({ units: 3 });
    expect(await stock.serve(order('late', 1), tools)).toBeNull();
  });
});
