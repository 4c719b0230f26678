import { describe, expect, it } from 'vitest';
import { giveUpAgainAndAgain } from './giving-up.js';
import { serveLongLine } from './long-line.js';

// The long forms are `npm run endurance`.
describe('what is given up', () => {
  it.each([false, true])('leaves neither znode nor watch behind, with localLine %s', async (localLine) => {
    const { early, late, timeouts } = await giveUpAgainAndAgain({ cycles: 500, localLine });
    expect(timeouts).toBe(500);
    // That of the holder on its own znode.
    expect(late.watches).toBe(1);
    expect(late.znodes).toBe(early.znodes);
  });
});

describe('a long line', () => {
  it('is served in order, without a list, and with three events a hand-over at most', async () => {
    const outcome = await serveLongLine({ waiters: 200 });
    expect(outcome).toMatchObject({ served: 200, outOfOrder: 0, watchesLeft: 0 });
    expect(outcome.notifications).toBeLessThanOrEqual(3 * 200);
    expect(outcome.lists).toBeLessThanOrEqual(20);
  });
});
