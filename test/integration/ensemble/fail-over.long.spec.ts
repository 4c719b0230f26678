import { describe, expect, it } from 'vitest';
import { flood } from './flood.js';
import { afterwards, kept, roam, whenFollower } from './roaming-holder.js';
import { ThreeServers } from './three-servers.js';

describe('while other servers are available', { timeout: 180_000 }, () => {
  const three = new ThreeServers();

  it('a lease is kept when its follower is frozen', async () => {
    const { seen, expected } = await whenFollower(await three.ensemble.followers(), ({ server }) => server.freeze());
    expect(seen).toEqual(expected);
  });

  it('a lease is kept when its follower is unreachable in one or both directions', async () => {
    // Three holders at once: each has links of its own, and the servers are not affected.
    const directions = [undefined, 'toServer', 'toClient'] as const;
    const followers = await three.ensemble.followers();
    const outcomes = await Promise.all(
      directions.map((direction) => whenFollower(followers, ({ proxy }) => proxy.blackHole(direction))),
    );
    expect(outcomes.map(({ seen }) => seen)).toEqual(outcomes.map(({ expected }) => expected));
  });

  it('a lease is kept by a holder with a steady stream of events', async () => {
    const [one, other] = await three.ensemble.followers();
    const roamer = await roam([one!]);
    const lease = await roamer.holder.acquire('k');
    const received = await flood(roamer, other!);
    expect(await afterwards(lease)).toEqual(kept(lease).after);
    expect(received()).toBeGreaterThan(10);
  });
});
