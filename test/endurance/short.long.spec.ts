import { describe, expect, it } from 'vitest';
import { giveUpAgainAndAgain } from './giving-up.js';
import { serveLongQueue } from './long-queue.js';

// The long forms are `npm run endurance`.
describe('acquisitions that are given up', () => {
  it.each([false, true])('leave neither znode nor watch behind, with localLine %s', async (localLine) => {
    const { early, late, timeouts } = await giveUpAgainAndAgain({ cycles: 500, localLine });
    expect(timeouts).toBe(500);
    // The remaining watch is the holder's, on its own znode.
    expect(late.watches).toBe(1);
    expect(late.znodes).toBe(early.znodes);
  });
});

describe('a long wait queue', () => {
  it('is served in order, without listing it, with at most three events per hand-over', async () => {
    const outcome = await serveLongQueue({ waiters: 200 });
    expect(outcome).toMatchObject({ served: 200, outOfOrder: 0, lists: 0, watchesLeft: 0 });
    expect(outcome.notifications).toBeLessThanOrEqual(3 * 200);
  });
});
