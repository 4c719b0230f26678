import { describe, expect, inject, it } from 'vitest';
import { inOppositeOrders } from './support/opposite-orders.js';

const connectString = inject('zookeeper');

describe('six processes that want three keys in six orders', () => {
  // The long form is `npm run endurance -- sets`.
  it.each(['atomic', 'in order'] as const)('never wait for each other in a circle: %s', async (how) => {
    const outcome = await inOppositeOrders({ connectString, how, rounds: 10 });
    expect(outcome).toEqual({ sets: 60, timeouts: 0, overlaps: 0 });
  });

  it('would be caught if they did: one lock inside the other', async () => {
    const outcome = await inOppositeOrders({ connectString, how: 'nested', rounds: 2, waitMs: 1_000 });
    expect(outcome).toMatchObject({ timeouts: expect.toSatisfy((count) => count > 0), overlaps: 0 });
  });
});
