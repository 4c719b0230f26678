import { describe, expect, it } from 'vitest';
import { LockLostError, LockTimeoutError } from '../../../lib/contract/errors.js';
import type { SegmentedStock } from '../../../lib/stock/segmented-stock.js';
import { eventually } from '../../support/eventually.js';
import { openLeasedStock } from './leased-shops.js';

describe('orders that are larger than every single segment', () => {
  /** Holds one segment until several orders wait for all of them. */
  async function whileHeld(levels: readonly number[], orders: (stock: SegmentedStock) => Promise<unknown>[]) {
    const opened = openLeasedStock(levels);
    const { stock, shops, backend } = opened;
    const lock = shops[0]!.segmented('sku', { segments: levels.length });
    // The segments are then known to be dry, so that the orders do not try each of them first.
    expect(await stock.deduct(1_000, { split: false })).toBeNull();
    const lease = await lock.acquire({ only: [levels.length - 1] });
    const outcomes = orders(stock);
    const last = `sku/#${String(levels.length - 1).padStart(4, '0')}`;
    await eventually(() => backend.contenders(last).length === 2, 'they wait for all segments');
    await lease.release();
    return { ...opened, outcomes };
  }

  it('are served one after another, each with the units that earlier ones left or put back', async () => {
    const { outcomes, ledger } = await whileHeld([2, 2, 2], (stock) => [
      stock.deduct(3_000, { split: false }),
      stock.deduct(2_000),
      stock.deduct(1_500),
      ...[1, 2, 3].map(() => stock.deduct(1_000)),
    ]);
    expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => null));
    expect(ledger.calls.filter((call) => call.startsWith('putBack'))).toHaveLength(3);
    expect(ledger.levels).toEqual([2, 2, 2]);
  });

  it('receive units that earlier orders did not use', async () => {
    const { stock, shops, ledger, backend } = openLeasedStock([2, 2, 2]);
    expect(await stock.deduct(3, { split: false })).toBeNull();
    const lease = await shops[0]!.segmented('sku', { segments: 3 }).acquire({ only: [2] });
    const outcomes = [
      stock.deduct(3, { split: false }),
      stock.deduct(7),
      stock.deduct(5),
      stock.deduct(3, { split: false, orderId: 'x' }),
    ];
    await eventually(() => backend.contenders('sku/#0002').length === 2, 'they wait for all segments');
    await lease.release();
    const [none, tooMany, sold, last] = await Promise.all(outcomes);
    expect([none, tooMany, sold?.units, last]).toEqual([null, null, 5, null]);
    expect(ledger.units).toBe(1);
  });

  it('leave the queue when all callers have given up', async () => {
    const { stock, shops, backend } = openLeasedStock([0, 0]);
    expect(await stock.deduct(1)).toBeNull();
    const lease = await shops[0]!.segmented('sku', { segments: 2 }).acquire({ only: [1] });
    await expect(stock.deduct(1, { waitMs: 50 })).rejects.toThrow(LockTimeoutError);
    const standing = () => [0, 1].map((segment) => backend.contenders(`sku/#000${segment}`).length);
    await eventually(() => standing().join() === '0,1', 'nobody waits any more');
    await lease.release();
  });

  it('cannot be aborted while units are being taken', async () => {
    const { stock, ledger } = openLeasedStock([2, 2]);
    const abort = new AbortController();
    ledger.before = async (_call, { fencingToken }) => void (fencingToken && abort.abort(new Error('too late')));
    expect(await stock.deduct(3)).toMatchObject({ units: 3 });
    ledger.levels.fill(2);
    await expect(stock.deduct(3, { signal: abort.signal })).rejects.toThrow('too late');
    const late = new AbortController();
    ledger.before = async () => late.abort(new Error('too late'));
    expect(await stock.deduct(3, { signal: late.signal })).toMatchObject({ units: 3 });
  });

  it('continue in the next round when a lease was lost in this one', async () => {
    const { stock, shops, ledger, backend } = openLeasedStock([2, 2]);
    expect(await stock.deduct(3, { split: false })).toBeNull();
    const lease = await shops[0]!.segmented('sku', { segments: 2 }).acquire({ only: [1] });
    const outcomes = [stock.deduct(3), stock.deduct(3)];
    await eventually(() => backend.contenders('sku/#0001').length === 2, 'they wait for all segments');
    ledger.after = async () => {
      ledger.after = async () => {};
      const held = backend.leaseOn('sku/#0001');
      held?.lose(new LockLostError('sku/#0001', 'the session is over'));
    };
    await lease.release();
    const [first, second] = await Promise.allSettled(outcomes);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'LOCK_LOST' } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { units: 3 } });
    expect(ledger.unitsTaken).toBe(3);
    expect(await stock.leftovers()).toEqual([]);
  });

  it('are served outside the leases that their callers hold', async () => {
    const { stock, shops, backend } = openLeasedStock([0, 0]);
    expect(await stock.deduct(1)).toBeNull();
    const lock = shops[0]!.segmented('sku', { segments: 2 });
    let careless: Promise<unknown> = Promise.resolve();
    let innocent: Promise<unknown> = Promise.resolve();
    await lock.using(
      async () => {
        careless = stock.deduct(1);
        innocent = shops[0]!.using('another', () => stock.deduct(1));
        await eventually(() => backend.contenders('sku/#0001').length === 2, 'they wait for all segments');
      },
      { only: [1] },
    );
    expect(await Promise.all([careless, innocent])).toEqual([null, null]);
  });

  it('take no units once the lease has been lost', async () => {
    const { stock, ledger, records, backend } = openLeasedStock([4]);
    records.afterWrite = async (changes) => {
      if (!changes.some(({ name }) => name.includes('/open/'))) return;
      backend.leaseOn('sku/#0000')?.lose(new LockLostError('sku/#0000', 'the session is over'));
    };
    await expect(stock.deduct(1, { orderId: 'x' })).rejects.toThrow(LockLostError);
    expect(ledger.calls).toEqual([]);
    records.afterWrite = async () => {};
    expect((await stock.deduct(4))?.units).toBe(4);
  });
});
