import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EtcdServer } from '../../lib/testing/index.js';
import { clientsOf, hold, lossOf, requestFor } from './support/clients.js';
import { elected, freeze, leaderAndFollowers } from './support/cluster.js';

let members: EtcdServer[];

beforeAll(async () => {
  members = await EtcdServer.startCluster(3);
});

afterAll(() => Promise.all(members.map((member) => member.stop())));

const hostsOf = (servers: readonly EtcdServer[]) => servers.map(({ host }) => host);

describe('a leader that is stopped', () => {
  it('costs no lease, and the wait queue goes on', async () => {
    const { leader } = await leaderAndFollowers(members);
    const { open } = clientsOf({ sessionTimeoutMs: 20_000 });
    const [one, other] = [open(hostsOf(members)), open(hostsOf(members))];
    const lease = await hold(one, 'k');
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    const thaw = await freeze(leader);
    await elected(members.filter((member) => member !== leader));
    await expect.poll(() => lease.state).toBe('held');
    await lease.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await thaw();
    expect(next.isHeld()).toBe(true);
  });

  it.each([2_500, 4_000, 7_000])(
    'and wakes after %i ms prolongs nothing: no two holders at a time',
    async (stoppedMs) => {
      const { leader, followers } = await leaderAndFollowers(members);
      const { open } = clientsOf({ sessionTimeoutMs: 4_000 });
      // This client sees nothing but the stopped leader.
      const [cut, other] = [open(leader.host), open(hostsOf(followers))];
      const lease = await hold(cut, 'k');
      await other.connect();
      const thaw = await freeze(leader);
      const woken = new Promise<void>((resolve) => setTimeout(() => void thaw().then(resolve), stoppedMs));
      const leaving = new AbortController();
      const next = other.acquire(requestFor('k', { signal: leaving.signal })).then(
        (granted) => ({ granted, wasHeld: lease.isHeld() }),
        () => undefined,
      );
      await woken;
      const first = await Promise.race([next, leader.ready().then(() => undefined)]);
      if (lease.isHeld()) await lease.release();
      expect(first?.wasHeld ?? false).toBe(false);
      expect((await next)?.granted?.fencingToken).toBeGreaterThan(lease.fencingToken);
      leaving.abort();
    },
  );
});

describe('a leader whose followers are stopped', () => {
  it('proves nothing: leases end on their own clocks', async () => {
    const { leader, followers } = await leaderAndFollowers(members);
    const { open } = clientsOf({ sessionTimeoutMs: 2_000 });
    const client = open(leader.host);
    const lease = await hold(client, 'k');
    const lost = lossOf(lease);
    const thaw = await freeze(...followers);
    // The leader goes on answering renewals for about a second. A timer that fires late does not matter.
    await pause(2_000);
    expect(lease.isHeld()).toBe(false);
    await lost;
    await thaw();
    const next = await hold(client, 'k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('grants nothing, and says so in time', async () => {
    const { leader, followers } = await leaderAndFollowers(members);
    const { open } = clientsOf({ connectTimeoutMs: 5_000 });
    const client = open(leader.host);
    await client.connect();
    const thaw = await freeze(...followers);
    await expect(client.acquire(requestFor('k', { wait: false }))).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await thaw();
    await elected(members);
    // The client pauses for up to two seconds between attempts.
    await expect.poll(() => client.state).toBe('connected');
    expect((await hold(client, 'k')).isHeld()).toBe(true);
  });
});

describe('a member that is killed', () => {
  it('costs no lease, whichever it is', async () => {
    const { open } = clientsOf({ sessionTimeoutMs: 30_000 });
    const client = open(hostsOf(members));
    const lease = await hold(client, 'k');
    for (const member of members) {
      await leaderAndFollowers(members);
      await member.kill();
      await elected(members.filter((one) => one !== member));
      await expect.poll(async () => (await client.lineOf('k').catch(() => [])).length).toBe(1);
      expect(lease.isHeld()).toBe(true);
      await member.restart();
    }
    await expect.poll(() => lease.state).toBe('held');
  });
});

describe('tokens', () => {
  it('grow across a restart of all members', async () => {
    const { open } = clientsOf();
    const client = open(hostsOf(members));
    const before = await hold(client, 'k');
    await before.release();
    await Promise.all(members.map((member) => member.kill()));
    await Promise.all(members.map((member) => member.restart()));
    const after = await hold(open(hostsOf(members)), 'k');
    expect(after.fencingToken).toBeGreaterThan(before.fencingToken);
  });
});
