import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { deferred } from '../../../lib/async/deferred.js';
import { hash } from '../../../lib/composite/segment-route.js';
import { Deliveries } from '../../../lib/stock/deliveries.js';
import { LeasedStock, LeasedTraffic } from '../../../lib/stock/leased-stock.js';
import { OpenOrders } from '../../../lib/stock/open-orders.js';
import type { Order } from '../../../lib/stock/stock-keeper.js';
import { StockNames } from '../../../lib/stock/stock-names.js';
import { eventually } from '../../support/eventually.js';
import { openLeasedStock } from './leased-shops.js';

/** A stock in a store, and the hints of its process about dry segments. */
function openSearch(levels: readonly number[]) {
  const opened = openLeasedStock(levels, {}, 2);
  const { ledger: store, shops, records } = opened;
  const names = new StockNames('sku');
  const traffic = new LeasedTraffic(shops[0]!.segmented('sku', { segments: levels.length }));
  const tools = { key: 'sku', store, open: new OpenOrders(records, names) };
  return { ...opened, traffic, keeper: new LeasedStock(tools, traffic, new Deliveries(records, names)) };
}

function order(quantity: number, signal = NEVER, routeBy?: string): Order {
  return { orderId: 'x', isNamed: true, quantity, split: true, routeBy, signal };
}

describe('an order that looks for a segment with all of its units', () => {
  it('tries each one once, also when what is known of the first is outdated before the last', async () => {
    const { keeper, traffic, ledger, records } = openSearch([1, 1]);
    const endless = new AbortController();
    records.afterWrite = async (changes) => {
      const isDropped = changes.some(({ name, value }) => name.includes('/open/') && value === undefined);
      if (isDropped) traffic.dry.clear();
      if (ledger.calls.length > 20) endless.abort(new Error('there is no end of it'));
    };
    expect((await keeper.deduct(order(2, endless.signal)))?.units).toBe(2);
    expect(ledger.calls.filter((call) => call === 'take 0').length).toBeLessThanOrEqual(2);
  });

  it('looks elsewhere when the segment that it waits for is removed', async () => {
    const { keeper, traffic, ledger, shops, backend } = openSearch([0, 0, 0, 5]);
    const [isResizing, mayResize] = [deferred(), deferred()];
    const resize = shops[1]!.segmented('sku', { segments: 4 }).resize(2, async () => {
      isResizing.resolve();
      await mayResize.promise;
      ledger.levels.splice(0, 4, 5, 0);
    });
    await isResizing.promise;
    // A hint would live for a second only.
    traffic.dry.mayHave = (segment) => segment === 3;
    const sale = keeper.deduct(order(2));
    await eventually(() => backend.contenders('sku/#0003').length === 2, 'the order waits');
    mayResize.resolve();
    await resize;
    expect((await sale)?.parts).toEqual([{ segment: 0, units: 2 }]);
  });

  it('ends when all segments that it has not tried are removed, and nothing is known of the others', async () => {
    const { keeper, traffic, ledger, shops, backend } = openSearch([0, 0, 0, 0]);
    const [isResizing, mayResize] = [deferred(), deferred()];
    const migrate = async () => {
      isResizing.resolve();
      await mayResize.promise;
      ledger.levels.splice(0, 4, 1, 0);
    };
    const endless = new AbortController();
    const count = traffic.lock.count.bind(traffic.lock);
    let [counts, resize] = [0, Promise.resolve()];
    traffic.lock.count = async () => {
      if (++counts > 20) endless.abort(new Error('there is no end of it'));
      if (ledger.calls.length === 2 && counts < 4) {
        resize = shops[1]!.segmented('sku', { segments: 4 }).resize(2, migrate);
        await isResizing.promise;
      }
      return count();
    };
    const first = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].find((route) => hash(route) % 4 === 0);
    const sale = keeper.deduct(order(1, endless.signal, first));
    await isResizing.promise;
    const removed = ['sku/#0002', 'sku/#0003'];
    await eventually(() => removed.some((key) => backend.contenders(key).length === 2), 'the order waits');
    traffic.dry.clear();
    mayResize.resolve();
    await resize;
    expect((await sale)?.parts).toEqual([{ segment: 0, units: 1 }]);
    expect(ledger.calls.slice(0, 2)).toEqual(['take 0', 'take 1']);
  });
});
