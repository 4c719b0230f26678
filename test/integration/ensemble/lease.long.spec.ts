import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { contest, handOver, SAFE, SESSION_MS } from './contest.js';
import { ThreeServers } from './three-servers.js';

describe('a lease is lost before the next one is granted, when', () => {
  const three = new ThreeServers();

  it('the holder’s follower is cut off from the leader repeatedly', { timeout: 120_000 }, async () => {
    for (let round = 0; round < 5; round++) {
      const [leader, follower, other] = await three.roles();
      const contested = await contest({ holder: follower, contender: round % 2 ? leader : other, observer: leader });
      // The cut falls into a random phase of the heartbeats.
      await pause(Math.random() * SESSION_MS);
      three.ensemble.partition(follower);
      expect(await handOver(contested), `round ${round}`).toEqual(SAFE);
      await three.ensemble.restore();
    }
  });

  it.each([0.5, 0.95, 1.1, 1.25])('the holder’s leader is frozen for %d session timeouts', async (share) => {
    const [leader, one, other] = await three.roles();
    const contested = await contest({ holder: leader, contender: one, observer: other });
    await leader.freeze();
    const handingOver = handOver(contested, 3 * SESSION_MS);
    await pause(share * SESSION_MS);
    await leader.thaw();
    // The lease may survive the shorter freezes.
    expect(await handingOver).toMatchObject({ overlapMs: 0 });
  });

  it.each([0.95, 1.1, 1.2])('the leader of its follower is frozen for %d session timeouts', async (share) => {
    const [leader, one, other] = await three.roles();
    const contested = await contest({ holder: one, contender: other, observer: other });
    await leader.freeze();
    const handingOver = handOver(contested, 3 * SESSION_MS);
    await pause(share * SESSION_MS);
    await leader.thaw();
    expect(await handingOver).toMatchObject({ overlapMs: 0 });
  });
});
