import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { EtcdServer } from '../../lib/testing/index.js';
import { clientsOf, hold } from './support/clients.js';
import { leaderAndFollowers } from './support/cluster.js';
import { PeerNetwork } from './support/peer-network.js';

let network: PeerNetwork;

beforeAll(async () => {
  network = await PeerNetwork.start();
});

afterAll(() => network.stop());

const hostsOf = (servers: readonly EtcdServer[]) => servers.map(({ host }) => host);

function isolate(member: EtcdServer): () => void {
  const heal = network.isolate(member);
  onTestFinished(heal);
  return heal;
}

describe.each(['leader', 'follower'] as const)('a %s that is cut off from the others', (role) => {
  const cutAndOthers = async () => {
    const { leader, followers } = await leaderAndFollowers(network.members);
    const cut = role === 'leader' ? leader : (followers[0] as EtcdServer);
    return { cut, others: network.members.filter((member) => member !== cut) };
  };

  it('proves nothing to a client that sees only it: the lease is lost before the others grant the key', async () => {
    const { cut, others } = await cutAndOthers();
    const { open } = clientsOf({ sessionTimeoutMs: 4_000 });
    const [stranded, other] = [open(cut.host), open(hostsOf(others))];
    const lease = await hold(stranded, 'k');
    const waiting = hold(other, 'k').then((next) => ({ next, wasHeld: lease.isHeld() }));
    await expect.poll(async () => (await stranded.lineOf('k')).length).toBe(2);
    const heal = isolate(cut);
    const { next, wasHeld } = await waiting;
    expect(wasHeld).toBe(false);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(stranded.state).not.toBe('connected');
    heal();
    const again = hold(stranded, 'k');
    await next.release();
    expect((await again).fencingToken).toBeGreaterThan(next.fencingToken);
  });

  it('costs a client no lease that can reach the others', async () => {
    const { cut, others } = await cutAndOthers();
    const { open } = clientsOf({ sessionTimeoutMs: 20_000 });
    // Each client begins with any of them: one of several is connected to the member that is cut off.
    const clients = Array.from({ length: 6 }, () => open(hostsOf(network.members)));
    const leases = await Promise.all(clients.map((client, place) => hold(client, `k${place}`)));
    isolate(cut);
    const other = open(hostsOf(others));
    await expect.poll(() => other.connect().then(() => other.state)).toBe('connected');
    for (const place of clients.keys()) {
      await expect.poll(async () => (await other.lineOf(`k${place}`)).length).toBe(1);
    }
    await Promise.all(leases.map((lease) => lease.release()));
    for (const place of clients.keys()) await expect.poll(() => other.lineOf(`k${place}`)).toEqual([]);
    expect(leases.map(({ state }) => state)).toEqual(leases.map(() => 'released'));
  });
});
