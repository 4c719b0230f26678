import { describe, expect, it } from 'vitest';
import { audit } from './stock-audit.js';
import { played, SALE } from './stock-sale.js';

describe('a large sale from a user’s store', () => {
  it('sells every unit once, whichever processes are killed', async () => {
    const { account } = await played({ ...SALE, store: 'ledger' });
    expect(audit(account, SALE.units)).toEqual([]);
    expect(account.available).toBe(0);
  }, 240_000);

  it('gives 300 coupons to 300 buyers', async () => {
    const coupons = { units: 300, segments: 3, buyers: 400, processes: 4, kills: 0 };
    const { account } = await played({ ...coupons, store: 'ledger' });
    expect(audit(account, coupons.units)).toEqual([]);
    expect(account.available).toBe(0);
  }, 240_000);
});

describe('the tests of a sale detect', () => {
  it.each([
    ['a store of a user’s without its lock', 'ledger', 'unlocked'],
    ['a built-in store that does not look before it writes', 'records', 'unconditional'],
  ] as const)('%s', async (_what, store, planted) => {
    const { account } = await played({ ...SALE, kills: 0, store, planted });
    expect(audit(account, SALE.units)).not.toEqual([]);
  });
});
