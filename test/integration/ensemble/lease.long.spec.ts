import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ZooKeeperEnsemble } from '../../../lib/testing/index.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';
import { contest, handOver, SAFE, SESSION_MS } from './contest.js';

describe('a lease is lost before the next one is granted, when', () => {
  let ensemble: ZooKeeperEnsemble;
  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
  });
  afterEach(() => ensemble.restore());
  afterAll(() => ensemble.stop());

  const roles = async (): Promise<[leader: EnsembleServer, one: EnsembleServer, other: EnsembleServer]> => {
    const [one, other] = await ensemble.followers();
    return [await ensemble.leader(), one!, other!];
  };

  it('the holder’s follower is cut off from the leader, again and again', { timeout: 120_000 }, async () => {
    for (let round = 0; round < 5; round++) {
      const [leader, follower, other] = await roles();
      const contested = await contest({ holder: follower, contender: round % 2 ? leader : other, observer: leader });
      // At any phase of the heartbeats.
      await pause(Math.random() * SESSION_MS);
      ensemble.partition(follower);
      expect(await handOver(contested), `round ${round}`).toEqual(SAFE);
      await ensemble.restore();
    }
  });

  it.each([0.5, 0.95, 1.1, 1.25])('the holder’s leader stands still for %d session timeouts', async (share) => {
    const [leader, one, other] = await roles();
    const contested = await contest({ holder: leader, contender: one, observer: other });
    await leader.freeze();
    const handingOver = handOver(contested, 3 * SESSION_MS);
    await pause(share * SESSION_MS);
    await leader.thaw();
    // The shorter ones it may survive.
    expect(await handingOver).toMatchObject({ overlapMs: 0 });
  });

  it.each([0.95, 1.1, 1.2])('the leader of its follower stands still for %d session timeouts', async (share) => {
    const [leader, one, other] = await roles();
    const contested = await contest({ holder: one, contender: other, observer: other });
    await leader.freeze();
    const handingOver = handOver(contested, 3 * SESSION_MS);
    await pause(share * SESSION_MS);
    await leader.thaw();
    expect(await handingOver).toMatchObject({ overlapMs: 0 });
  });
});
