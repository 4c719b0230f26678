import { describe, expect, it } from 'vitest';
import { audit } from './stock-audit.js';
import { played, SALE } from './stock-sale.js';

describe('what the tests of a sale would find', () => {
  it.each([
    ['a store of a user’s without its lock', 'ledger', 'unlocked'],
    ['a built-in store that does not look before it writes', 'records', 'unconditional'],
  ] as const)('%s', async (_what, store, planted) => {
    const { account } = await played({ ...SALE, kills: 0, store, planted });
    expect(audit(account, SALE.units)).not.toEqual([]);
  });
});
