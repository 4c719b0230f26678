import { onTestFinished } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import type { SegmentedStock } from '../../../lib/stock/segmented-stock.js';
import type { StockOptions } from '../../../lib/stock/stock.options.js';
import { UnitLedger } from '../../support/unit-ledger.js';
import { openShop, openShops } from './shops.js';

/** One ledger from which several processes sell. */
export function openLeasedStock(levels: readonly number[], options: Partial<StockOptions> = {}, processes = 1) {
  const ledger = new UnitLedger(levels);
  const { backend, shops } = openShops(processes);
  const stockOptions = { segments: levels.length, store: ledger, ...options };
  const stocks = shops.map((shop) => shop.stock('sku', stockOptions));
  const [stock] = stocks as [SegmentedStock];
  return { ledger, stocks, stock, shops, backend, records: backend.records, stockOptions };
}

/** A process that dies: it never finishes what it has begun, and after a while its leases are granted to others. */
export function openDoomedStock(levels: readonly number[], options: Partial<StockOptions> = {}) {
  const opened = openLeasedStock(levels, options);
  const dead = deferred<never>();
  dead.promise.catch(() => {});
  let died = deferred();
  const die = (): Promise<never> => {
    died.resolve();
    return dead.promise;
  };
  /** Lets the dying process make a call. It goes on until the end of the test, so that it leaves no timer behind. */
  const begin = (call: () => Promise<unknown>): void => {
    const ended = call().then(
      () => {},
      () => {},
    );
    onTestFinished(() => {
      dead.reject(new Error('the process is dead'));
      return ended;
    });
  };
  const expire = async () => {
    await died.promise;
    died = deferred();
    for (let segment = 0; segment < levels.length; segment++) {
      await opened.backend.leaseOn(`sku/#${String(segment).padStart(4, '0')}`)?.release();
    }
  };
  const survivor = openShop(opened.backend).stock('sku', opened.stockOptions);
  return { ...opened, begin, die, expire, survivor };
}
