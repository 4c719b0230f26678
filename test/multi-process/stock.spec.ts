import { describe, expect, it } from 'vitest';
import { audit } from './stock-audit.js';
import { StockRun } from './stock-run.js';
import { played, SALE } from './stock-sale.js';

describe.each(['records', 'ledger'] as const)(
  '1,000 units in 16 segments, 200 buyers in 4 processes, kept in %s',
  (store) => {
    it('are sold to the last one, each once, whoever is killed on the way', async () => {
      const { account } = await played({ ...SALE, store });
      expect(audit(account, SALE.units)).toEqual([]);
      expect(account.available).toBe(0);
      expect(account.told.filter(({ isSold }) => isSold).length).toBeGreaterThan(SALE.units / 10);
    }, 240_000);
  },
);

describe('300 coupons in 3 segments', () => {
  it.each(['records', 'ledger'] as const)(
    'go to 300 buyers, kept in %s',
    async (store) => {
      const { account } = await played({ units: 300, segments: 3, buyers: 400, processes: 4, kills: 0, store });
      expect(audit(account, 300)).toEqual([]);
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
    await expect(doomed.finished()).rejects.toThrow('ended with null');
    const [leftover, ...others] = await run.stock.leftovers();
    expect(others).toEqual([]);
    expect(leftover?.segments.length).toBeGreaterThan(1);

    await run.play();

    const account = await run.account();
    expect(audit(account, 30)).toEqual([]);
    expect(account.available).toBe(0);
  });
});
