import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FaultProxy } from '../../../lib/testing/index.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';
import { contest, endOf, handOver, SAFE, SESSION_MS } from './contest.js';
import { flood } from './flood.js';
import { ThreeServers } from './three-servers.js';

/**
 * Promise 1: a lease becomes lost on the holder's own clock before the servers can grant the key to another contender.
 */
describe('a lease is lost before the next one is granted, when', () => {
  const three = new ThreeServers();
  const proxyOf = async (server: EnsembleServer): Promise<FaultProxy> => {
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    return proxy;
  };

  it('the holder’s leader is cut off from its followers', async () => {
    const [leader, one, other] = await three.roles();
    const contested = await contest({ holder: leader, contender: one, observer: other });
    three.ensemble.partition(leader);
    expect(await handOver(contested)).toEqual(SAFE);
  });

  it('the holder’s leader is frozen until there is another one', async () => {
    const [leader, one, other] = await three.roles();
    const contested = await contest({ holder: leader, contender: one, observer: other });
    await leader.freeze();
    const handingOver = handOver(contested);
    await three.ensemble.leader();
    await leader.thaw();
    expect(await handingOver).toEqual(SAFE);
  });

  it.each(['frozen', 'killed'])('the holder’s leader has no quorum, because its followers are %s', async (how) => {
    const [leader, one, other] = await three.roles();
    const contested = await contest({ holder: leader, contender: three.ensemble, observer: three.ensemble });
    const lost = endOf(contested.lease);
    await Promise.all([one, other].map((server) => (how === 'frozen' ? server.freeze() : server.kill())));
    const handingOver = handOver(contested);
    await lost;
    await three.ensemble.restore();
    expect(await handingOver).toEqual(SAFE);
  });

  it.each(['follower', 'leader'] as const)('all packets between the holder and its %s are lost', async (role) => {
    const [leader, follower, other] = await three.roles();
    const proxy = await proxyOf(role === 'leader' ? leader : follower);
    const contested = await contest({ holder: proxy, contender: other, observer: other });
    await pause(Math.random() * SESSION_MS);
    proxy.blackHole();
    expect(await handOver(contested)).toEqual(SAFE);
  });

  it('all packets from the holder to its server are lost', async () => {
    const [, follower, other] = await three.roles();
    const proxy = await proxyOf(follower);
    const contested = await contest({ holder: proxy, contender: other, observer: other });
    proxy.blackHole('toServer');
    expect(await handOver(contested)).toEqual(SAFE);
  });

  it('all packets from the holder are lost, and the server’s keep arriving', async () => {
    const [, follower, other] = await three.roles();
    const proxy = await proxyOf(follower);
    const contested = await contest({ holder: proxy, contender: other, observer: other });
    const received = await flood(contested, other);
    const before = received();
    proxy.blackHole('toServer');
    expect(await handOver(contested)).toEqual(SAFE);
    expect(received()).toBeGreaterThan(before + 10);
  });

  it('all packets from its server are lost, and every connection fails', async () => {
    const [, follower, other] = await three.roles();
    const proxy = await proxyOf(follower);
    const contested = await contest({ holder: proxy, contender: other, observer: other });
    proxy.blackHole('toClient');
    proxy.refuse();
    expect(await handOver(contested)).toEqual(SAFE);
  });

  it('all packets from its server are lost, and its own still arrive', async () => {
    const [, follower, other] = await three.roles();
    const proxy = await proxyOf(follower);
    const contested = await contest({ holder: proxy, contender: other, observer: other });
    proxy.blackHole('toClient');
    expect(await handOver(contested)).toEqual(SAFE);
  });
});
