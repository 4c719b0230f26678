import { describe, expect, inject, it } from 'vitest';
import { inOppositeOrders } from './support/opposite-orders.js';

const connectString = inject('zookeeper');

describe('six processes that acquire three keys in six orders', () => {
  // The long form is `npm run endurance -- sets`.
  it.each(['atomic', 'in order'] as const)('never deadlock: %s', async (how) => {
    const outcome = await inOppositeOrders({ connectString, how, rounds: 10 });
    expect(outcome).toEqual({ sets: 60, timeouts: 0, overlaps: 0 });
  });

  it('would be detected if they deadlocked: one lock inside the other', async () => {
    const outcome = await inOppositeOrders({ connectString, how: 'nested', rounds: 2, waitMs: 1_000 });
    expect(outcome).toMatchObject({ timeouts: expect.toSatisfy((count) => count > 0), overlaps: 0 });
  });
});
