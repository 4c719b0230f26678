import { describe, expect, it } from 'vitest';
import { audit } from './stock-audit.js';
import { StockRun } from './stock-run.js';
import { played, SALE, SMALL_SALE } from './stock-sale.js';

describe.each([
  { store: 'records', sale: SALE },
  { store: 'ledger', sale: SMALL_SALE },
] as const)(
  '$sale.units units in $sale.segments segments, $sale.buyers buyers in 4 processes, kept in $store',
  (plan) => {
    it('are all sold, once each, whichever processes are killed', async () => {
      const { store, sale } = plan;
      const { account } = await played({ ...sale, store });
      expect(audit(account, sale.units)).toEqual([]);
      expect(account.available).toBe(0);
      expect(account.told.filter(({ isSold }) => isSold).length).toBeGreaterThan(sale.units / 10);
    }, 240_000);
  },
);

describe('coupons in 3 segments', () => {
  it.each([
    ['records', 300],
    ['ledger', 100],
  ] as const)(
    'go to as many buyers, kept in %s: %i',
    async (store, units) => {
      const buyers = units + 100;
      const { account } = await played({ units, segments: 3, buyers, processes: 4, kills: 0, store });
      expect(audit(account, units)).toEqual([]);
      expect(account.available).toBe(0);
    },
    240_000,
  );
});

describe('a process that is killed in the middle of a split order', () => {
  it('leaves units that are found, and sold', async () => {
    const run = await StockRun.open({ units: 30, segments: 6, buyers: 4, processes: 1, kills: 0, store: 'ledger' });
    const doomed = await run.start(0, 'split');
    doomed.send({});
    await expect(doomed.succeeded()).rejects.toThrow('ended with SIGKILL');
    const [leftover, ...others] = await run.stock.leftovers();
    expect(others).toEqual([]);
    expect(leftover?.segments.length).toBeGreaterThan(1);

    await run.play();

    const account = await run.account();
    expect(audit(account, 30)).toEqual([]);
    expect(account.available).toBe(0);
  });
});
