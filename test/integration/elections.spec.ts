import { once } from 'node:events';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import type { Leader, Term } from '../../lib/contract/elections.js';
import { fencingTokenOf } from '../../lib/contract/granted-lease.js';
import type { LeaderElectionService } from '../../lib/elections/leader-election.service.js';
import { EmbeddedZooKeeper, ZooKeeperFaultProxy } from '../../lib/testing/index.js';
import { CreateMode } from '../../lib/zookeeper/client/zookeeper-client.js';
import { freshBasePath } from '../support/base-path.js';
import { openCandidate } from '../support/candidates.js';
import { eventually } from '../support/eventually.js';
import { contendersAt, openClient, untilContenders } from '../support/znodes.js';

const connectString = inject('zookeeper');
const ACL = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
const UUID = '8b3f5c1e-2a4d-4f6b-9c8e-0d1a2b3c4d5e';

/** The directory of the candidates of the service `test`. */
const pathOf = (basePath: string) => `${basePath}/%elections/test%2Fpoller`;

/** Two candidates with a session each, and a client that observes from outside. */
async function twoCandidates() {
  const basePath = freshBasePath();
  const [one, other, client] = await Promise.all([
    openCandidate({ connectString, basePath }),
    openCandidate({ connectString, basePath }),
    openClient(connectString),
  ]);
  const path = pathOf(basePath);
  return { one, other, client, basePath, path, profiles: `${path}%candidates` };
}

/** A candidate behind a proxy, and one with a direct connection. */
async function cutOffCandidate() {
  const basePath = freshBasePath();
  const proxy = await ZooKeeperFaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  const cutOff = await openCandidate({ connectString: proxy.connectString, basePath });
  const other = await openCandidate({ connectString, basePath });
  const client = await openClient(connectString);
  return { proxy, cutOff, other, client, path: pathOf(basePath) };
}

async function nextOf(leaders: AsyncIterator<Leader | null>): Promise<Leader | null> {
  const { value } = (await leaders.next()) as { value: Leader | null };
  return value;
}

/** Resolves with the leader once it is as expected. */
function untilLeader(elections: LeaderElectionService, is: (leader: Leader | null) => boolean): Promise<Leader | null> {
  return eventually(async () => {
    const leader = await elections.leader('poller');
    return is(leader) ? { leader } : undefined;
  }, 'the leader is as expected').then(({ leader }) => leader);
}

describe('an election', () => {
  it('has one leader; the next leads with a larger token when it resigns', async () => {
    const { one, other, client, path, profiles } = await twoCandidates();
    const first = await one.campaign('poller');
    await expect(other.campaign('poller', { waitMs: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const waiting = other.campaign('poller');
    await untilContenders(client, path, 2);

    await first.resign();

    const second = await waiting;
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken);
    await second.resign();
    expect(await contendersAt(client, path)).toEqual([]);
    await untilContenders(client, profiles, 0);
  });

  it('uses the znodes of Curator’s LeaderLatch, with the participant’s id as data', async () => {
    const { one, client, path } = await twoCandidates();
    const term = await one.campaign('poller', { label: 'node-1', value: 'v' });
    const [name = ''] = await contendersAt(client, path);
    expect(name).toMatch(/^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-latch-\d{10}$/);
    await term.proclaim('another');
    const { data, stat } = await client.read(`${path}/${name}`);
    // A waiting LeaderLatch misses the deletion of a predecessor whose data was changed.
    expect([data.toString(), stat.version]).toEqual(['node-1', 0]);
    expect(stat.ephemeralOwner).not.toBe(0n);
    expect(term.fencingToken).toBe(fencingTokenOf(stat.czxid));
  });

  it('waits for candidates of other clients, but not for lock contenders on its path', async () => {
    const { one, client, path } = await twoCandidates();
    await one.campaign('poller').then((term) => term.resign());
    const create = (name: string) =>
      client.create({
        path: `${path}/${name}`,
        data: Buffer.from('java'),
        acl: ACL,
        mode: CreateMode.ephemeralSequential,
      });
    await create(`_c_${UUID}-lock-`);
    const foreign = await create(`_c_${UUID}-latch-`);
    await expect(one.campaign('poller', { waitMs: 0 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    expect(await one.leader('poller')).toEqual({
      id: 'java',
      owner: {},
      value: undefined,
      since: expect.any(Date),
      fencingToken: fencingTokenOf(foreign.czxid),
      isOwn: false,
    });
    const waiting = one.campaign('poller');
    await untilContenders(client, path, 3);
    await client.delete(foreign.path);
    expect((await waiting).isHeld()).toBe(true);
  });

  it('removes the contender and the profile of a candidate that gives up', async () => {
    const { one, other, client, path, profiles } = await twoCandidates();
    await one.campaign('poller');
    const abort = new AbortController();
    const waiting = other.campaign('poller', { signal: abort.signal });
    await untilContenders(client, path, 2);
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(await contendersAt(client, path)).toHaveLength(1);
    await untilContenders(client, profiles, 1);
  });

  it('moves to the next candidate when the leader’s znode is deleted from outside', async () => {
    const { one, other, client, path } = await twoCandidates();
    const term = await one.campaign('poller');
    const waiting = other.campaign('poller');
    const [first = ''] = await untilContenders(client, path, 2);
    await client.delete(`${path}/${first}`);
    const next = await waiting;
    expect(next.isHeld()).toBe(true);
    if (!term.signal.aborted) await once(term.signal, 'abort');
    expect(term.isHeld()).toBe(false);
  });
});

describe('a leader whose connection is lost repeatedly', () => {
  it('leads on while its session lasts, and no other candidate is elected', async () => {
    const { proxy, cutOff, other, client, path } = await cutOffCandidate();
    const term = await cutOff.campaign('poller');
    const abort = new AbortController();
    const waiting = other.campaign('poller', { signal: abort.signal });
    const before = await untilContenders(client, path, 2);

    for (let flap = 0; flap < 3; flap++) {
      // Refused until it is healed: a connection that returns at once may be back before the test observes the loss.
      proxy.refuse();
      proxy.disconnect();
      await eventually(() => term.state === 'suspended' || undefined, 'suspended');
      expect(term.isHeld()).toBe(true);
      proxy.heal();
      await eventually(() => term.state === 'held' || undefined, 'held again');
    }

    expect([term.signal.aborted, term.isHeld()]).toEqual([false, true]);
    expect(await contendersAt(client, path)).toEqual(before);
    await term.proclaim('still here');
    expect(await other.leader('poller')).toMatchObject({ value: 'still here', fencingToken: term.fencingToken });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it('loses its term with its session, and can campaign with the next session', async () => {
    const { proxy, cutOff, other, client, path } = await cutOffCandidate();
    const term = await cutOff.campaign('poller');
    const waiting = other.campaign('poller');
    await untilContenders(client, path, 2);

    await proxy.expireSessions();

    const next = await waiting;
    if (!term.signal.aborted) await once(term.signal, 'abort');
    expect([term.isHeld(), term.state]).toEqual([false, 'lost']);
    expect(term.signal.reason).toMatchObject({ code: 'LOCK_LOST', key: 'poller' });
    await expect(term.proclaim('late')).rejects.toMatchObject({ code: 'LOCK_LOST' });
    const again = cutOff.campaign('poller');
    await next.resign();
    expect((await again).fencingToken).toBeGreaterThan(next.fencingToken);
  });
});

describe('a candidate whose session is lost while it waits', () => {
  it('is queued again by itself', async () => {
    const { proxy, cutOff, other, client, path } = await cutOffCandidate();
    const term = await other.campaign('poller');
    const waiting = cutOff.campaign('poller', { value: 'v' });
    const before = await untilContenders(client, path, 2);
    await proxy.expireSessions();
    await eventually(async () => {
      const names = await contendersAt(client, path);
      return (names.length === 2 && !names.includes(before[1] ?? '')) || undefined;
    }, 'it stands again');
    await term.resign();
    expect((await waiting).isHeld()).toBe(true);
    await untilLeader(other, (leader) => leader?.value === 'v');
  });
});

describe('observers', () => {
  it('see each leader, its proclaimed values, and that there is none', async () => {
    const { one, other } = await twoCandidates();
    const leaders = other.observe('poller');
    // No candidate has ever campaigned, so there is no directory yet.
    expect(await nextOf(leaders)).toBeNull();
    const first = await one.campaign('poller', { label: 'a', value: '1' });
    expect(await nextOf(leaders)).toMatchObject({ id: 'a', value: '1', fencingToken: first.fencingToken });
    await untilLeader(one, (leader) => leader?.since.getTime() === first.acquiredAt.getTime());
    await first.proclaim('2');
    await seen(leaders, (leader) => leader?.value === '2');
    await first.resign();
    await seen(leaders, (leader) => leader === null);
    const second = await one.campaign('poller', { value: '3' });
    await seen(leaders, (leader) => leader?.fencingToken === second.fencingToken);
    await leaders.return?.();
  });

  it('continue when the leader changes while they are disconnected or lose their session', async () => {
    const { proxy, cutOff, other } = await cutOffCandidate();
    const first = await other.campaign('poller');
    const leaders = cutOff.observe('poller');
    expect(await nextOf(leaders)).toMatchObject({ fencingToken: first.fencingToken });

    const waiting = seen(leaders, (leader) => leader?.value === 'second');
    proxy.disconnect();
    await first.resign();
    const second = await other.campaign('poller', { value: 'second' });
    await waiting;

    const third = seen(leaders, (leader) => leader?.value === 'third');
    await proxy.expireSessions();
    await second.resign();
    await other.campaign('poller', { value: 'third' });
    await third;
    await leaders.return?.();
  });

  it.each([
    ['a leader', true],
    ['that there is none', false],
  ])('continue when their own session is lost while they watch %s', async (_, isLed) => {
    const server = await EmbeddedZooKeeper.start();
    onTestFinished(() => server.stop());
    const options = { connectString: server.connectString, basePath: freshBasePath() };
    const observer = await openCandidate(options);
    const [session] = server.sessions();
    const other = await openCandidate(options);
    const first = isLed ? await other.campaign('poller') : undefined;
    const leaders = observer.observe('poller');
    await nextOf(leaders);
    const told = seen(leaders, (leader) => leader?.value === 'second');
    const isWatched = (path: string) => session !== undefined && server.watchersOf(path).includes(session.id);
    await eventually(() => server.paths().some(isWatched), 'it watches');
    session?.expire();
    await first?.resign();
    await other.campaign('poller', { value: 'second' });
    await expect(told).resolves.toBeUndefined();
    await leaders.return?.();
  });

  it('get no event of candidates behind the leader, and end with their signal', async () => {
    const { one, other, client, path } = await twoCandidates();
    const { acquiredAt } = await one.campaign('poller');
    await untilLeader(other, (leader) => leader?.since.getTime() === acquiredAt.getTime());
    const abort = new AbortController();
    const leaders = other.observe('poller', { signal: abort.signal });
    await nextOf(leaders);
    const told: (Leader | null)[] = [];
    const waiting = nextOf(leaders).then((leader) => told.push(leader));
    const giveUp = new AbortController();
    const behind = expect(other.campaign('poller', { signal: giveUp.signal })).rejects.toBe('gone');
    await untilContenders(client, path, 2);
    giveUp.abort('gone');
    await behind;
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(told).toEqual([]);
  });
});

/** Observes until the leader matches. */
async function seen(leaders: AsyncIterator<Leader | null>, is: (leader: Leader | null) => boolean): Promise<void> {
  for (let leader = await nextOf(leaders); !is(leader); leader = await nextOf(leaders));
}

describe('twenty candidates', () => {
  it('lead one after the other, in the order in which they were queued', async () => {
    const { client, path, basePath } = await twoCandidates();
    const open = () => openCandidate({ connectString, basePath });
    const candidates = await Promise.all(Array.from({ length: 4 }, open));
    const order: number[] = [];
    const tokens: bigint[] = [];
    const terms: Promise<void>[] = [];
    const mayBegin = deferred();
    const lead = async (term: Term, place: number) => {
      await mayBegin.promise;
      order.push(place);
      tokens.push(term.fencingToken);
      await term.resign();
    };
    for (let place = 0; place < 20; place++) {
      const campaign = (candidates[place % 4] ?? expect.unreachable()).campaign('poller');
      terms.push(campaign.then((term) => lead(term, place)));
      await untilContenders(client, path, place + 1);
    }
    mayBegin.resolve();
    await Promise.all(terms);
    expect(order).toEqual(Array.from({ length: 20 }, (_, place) => place));
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
  });
});
