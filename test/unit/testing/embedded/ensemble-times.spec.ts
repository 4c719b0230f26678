import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EmbeddedEnsembleOptions } from '../../../../lib/testing/index.js';
import { RawClient } from '../../../integration/ensemble/behaviours/raw-client.js';
import { openAt, pass, passUntil, rolesOf, startTimed, TICK_MS, TIMEOUT_MS } from './passing-time.js';
import { startServer } from './servers.js';

const NO_NODE = -101;
const EPHEMERAL = 1;
const CONTAINER = 4;

describe('messages between the servers of an embedded ensemble', () => {
  it('take their time: to the leader and back for requests that a follower cannot answer alone', async () => {
    const ensemble = await startTimed({ peerDelayMs: 10 });
    const [leader, follower] = rolesOf(ensemble);
    const [near, far] = [await openAt(ensemble, leader), await openAt(ensemble, follower)];
    const took = async (answer: Promise<unknown>) => (await passUntil(ensemble, answer))[0];
    expect([near.ms, far.ms]).toEqual([0, 20]);
    expect([await took(near.client.create('/near')), await took(far.client.create('/far'))]).toEqual([0, 20]);
    expect([await took(near.client.sync()), await took(far.client.sync())]).toEqual([0, 20]);
    expect([await took(far.client.read('/near')), await took(far.client.ping())]).toEqual([0, 0]);
    const again = RawClient.open(follower, near.client.session);
    expect(await took(again)).toBe(20);
  });

  it('report a write to a follower after the delay, and in order', async () => {
    const delays = [30, 0, 0];
    let isDrawn = false;
    const ensemble = await startTimed({ peerDelayMs: () => (isDrawn ? (delays.shift() ?? 0) : 1) });
    const [leader, follower, other] = rolesOf(ensemble);
    const near = await openAt(ensemble, leader);
    const far = await openAt(ensemble, follower);
    isDrawn = true;
    other.cutOff();
    for (const path of ['/a', '/b']) await near.client.create(path);
    await pass(ensemble, 29);
    expect([await far.client.read('/a'), await far.client.read('/b')]).toEqual([NO_NODE, NO_NODE]);
    await pass(ensemble, 1);
    expect([await far.client.read('/a'), await far.client.read('/b')]).toEqual([0, 0]);
  });

  it('allow requests before the replies to earlier ones', async () => {
    const ensemble = await startTimed({ peerDelayMs: 10 });
    const { client } = await openAt(ensemble, rolesOf(ensemble)[1]);
    const answers = client.all(['/a', '/b', '/a/c', '/b/c'].map((path) => ({ create: path })));
    expect(await passUntil(ensemble, answers)).toEqual([20, [0, 0, 0, 0]]);
    // A read is served in its order among the writes of its connection.
    const mixed = client.all([{ create: '/c' }, { read: '/c' }, { create: '/c' }]);
    expect(await passUntil(ensemble, mixed)).toEqual([20, [0, 0, -110]]);
  });

  it('arrive even if their follower is killed after it has sent them', async () => {
    const ensemble = await startTimed({ peerDelayMs: 10 });
    const [leader, follower] = rolesOf(ensemble);
    const { client } = await openAt(ensemble, follower);
    const created = client.create('/late');
    await ensemble.idle();
    ensemble.advance(5);
    await follower.kill();
    expect([await created, leader.znode('/late')]).toEqual(['closed', undefined]);
    await pass(ensemble, 5);
    expect(leader.znode('/late')).toBeDefined();
  });
});

describe('an election of an embedded ensemble', () => {
  it('takes its time, in which no client is served and no session ends', async () => {
    const ensemble = await startTimed({ electionMs: () => 10 * TICK_MS });
    const [leader, follower] = rolesOf(ensemble);
    const { client } = await openAt(ensemble, follower);
    await client.create('/own', EPHEMERAL);
    await leader.kill();
    expect([await client.ping(), ensemble.leader]).toEqual(['closed', undefined]);
    await pass(ensemble, 10 * TICK_MS - 1);
    expect(await RawClient.open(follower)).toBeUndefined();
    await pass(ensemble, 1);
    expect(ensemble.leader?.id).toBe(2);
    expect(await RawClient.open(follower, client.session)).toBeDefined();
    expect(follower.znode('/own')).toBeDefined();
  });

  it('is not held without a majority, and begins again with it', async () => {
    const ensemble = await startTimed({ electionMs: 100 });
    const [leader, one, other] = rolesOf(ensemble);
    await leader.kill();
    await pass(ensemble, 50);
    one.cutOff();
    await pass(ensemble, 200);
    expect(ensemble.leader).toBeUndefined();
    one.rejoin();
    await pass(ensemble, 99);
    expect(ensemble.leader).toBeUndefined();
    await pass(ensemble, 1);
    expect([ensemble.leader, other.isLeader]).toEqual([one, false]);
  });
});

describe('a session of an embedded ensemble', () => {
  it.each([
    [undefined, 1_000],
    [0, 0],
    [() => 1_700, 1_700],
  ])('ends by this delay after its timeout: %s', async (expiryDelayMs, ms) => {
    const ensemble = await startTimed({ expiryDelayMs });
    const { session } = await openAt(ensemble, rolesOf(ensemble)[0]);
    expect([ensemble.nowMs, session.earliestEndMs]).toEqual([0, TIMEOUT_MS]);
    await pass(ensemble, TIMEOUT_MS + ms - 1);
    expect(session.isOpen).toBe(true);
    await pass(ensemble, 1);
    expect(session.isOpen).toBe(false);
  });

  it('ends by the delay of its last request, not by an earlier and longer one', async () => {
    const delays = [5_000, 0];
    const ensemble = await startTimed({ expiryDelayMs: () => delays.shift() ?? 0 });
    const { client, session } = await openAt(ensemble, rolesOf(ensemble)[0]);
    await pass(ensemble, 100);
    await client.ping();
    await pass(ensemble, TIMEOUT_MS);
    expect(session.isOpen).toBe(false);
  });

  it('is renewed at once by a request to the leader', async () => {
    const ensemble = await startTimed();
    const { client, session } = await openAt(ensemble, rolesOf(ensemble)[0]);
    await pass(ensemble, 100);
    await client.ping();
    expect(session.earliestEndMs).toBe(100 + TIMEOUT_MS);
  });

  it.each(['ping', 'create'] as const)('is renewed by a %s to a follower with the next heartbeat', async (word) => {
    const ensemble = await startTimed({ peerDelayMs: 10 });
    const { client, session } = await openAt(ensemble, rolesOf(ensemble)[1]);
    await pass(ensemble, 100 - ensemble.nowMs);
    const opened = session.earliestEndMs;
    await passUntil(ensemble, word === 'ping' ? client.ping() : client.create('/a'));
    // The heartbeat is sent at half a tick, and its reply arrives two messages later.
    await pass(ensemble, TICK_MS / 2 + 19 - ensemble.nowMs);
    expect(session.earliestEndMs).toBe(opened);
    await pass(ensemble, 1);
    expect(session.earliestEndMs).toBe(TICK_MS / 2 + 20 + TIMEOUT_MS);
    await pass(ensemble, TICK_MS);
    expect(session.earliestEndMs).toBe(TICK_MS / 2 + 20 + TIMEOUT_MS);
  });

  it('is not renewed by a request that its follower did not pass on before a kill', async () => {
    const ensemble = await startTimed();
    const [, follower] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, follower);
    await pass(ensemble, 100);
    await client.ping();
    await follower.kill();
    await follower.restart();
    await pass(ensemble, TICK_MS);
    expect(session.earliestEndMs).toBe(TIMEOUT_MS);
  });

  it('is renewed by the leader before its client is accepted again', async () => {
    const ensemble = await startTimed({ peerDelayMs: 10 });
    const [leader, follower] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, leader);
    await pass(ensemble, 100);
    await passUntil(ensemble, RawClient.open(follower, { ...client.session, timeoutMs: TIMEOUT_MS }));
    expect([ensemble.nowMs, session.earliestEndMs]).toEqual([120, 110 + TIMEOUT_MS]);
  });

  it.each([
    ['goes on', 0, true],
    ['ends before it is heard', 1, false],
  ])('%s when its leader stood still until %d ms after its end', async (_, ms, isOpen) => {
    const ensemble = await startTimed({ syncLimitMs: 20 * TICK_MS, expiryDelayMs: 1 });
    const [leader] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, leader);
    leader.freeze();
    const pinged = client.ping();
    await pass(ensemble, TIMEOUT_MS + ms);
    expect(session.isOpen).toBe(true);
    leader.thaw();
    expect([await pinged, session.isOpen]).toEqual([isOpen ? 0 : 'closed', isOpen]);
  });
});

describe('a server of an embedded ensemble that is cut off', () => {
  it('draws another sync limit each time', async () => {
    const limits = [300, 100, 200];
    const ensemble = await startTimed({ syncLimitMs: () => limits.shift() ?? TICK_MS });
    const [, one, other] = rolesOf(ensemble);
    const { client } = await openAt(ensemble, one);
    one.cutOff();
    await pass(ensemble, 99);
    expect(await client.ping()).toBe(0);
    await pass(ensemble, 1);
    expect(await client.ping()).toBe('closed');
    one.rejoin();
    const back = await openAt(ensemble, one);
    expect(await back.client.create('/a')).toBe(0);
    expect(other.znode('/a')).toBeDefined();
  });

  it('may be a leader beside a newer one, which serves old data and renews no session', async () => {
    // For a link that is cut, the leader draws its limit first.
    const limits = [9_000, 1_000, 9_000, 1_000];
    const ensemble = await startTimed({ syncLimitMs: () => limits.shift() ?? TICK_MS });
    const [old, one] = rolesOf(ensemble);
    const [stale, moved] = [await openAt(ensemble, old), await openAt(ensemble, one)];
    old.cutOff();
    await pass(ensemble, 1_000);
    expect([old.isLeader, one.isLeader, ensemble.leader]).toEqual([true, true, one]);
    const fresh = await openAt(ensemble, one);
    expect(await fresh.client.create('/new')).toBe(0);
    await pass(ensemble, 500);
    expect([await stale.client.ping(), await stale.client.read('/new')]).toEqual([0, NO_NODE]);
    expect(await RawClient.open(old, moved.client.session)).toBeDefined();
    expect([stale, moved].map(({ session }) => session.earliestEndMs)).toEqual([5_000, 5_000]);
    await pass(ensemble, 3_500 + TICK_MS);
    expect([stale, moved].map(({ session }) => session.isOpen)).toEqual([false, false]);
    // The old leader has not been notified of that.
    expect([await stale.client.ping(), await RawClient.open(old, moved.client.session)]).toEqual([
      0,
      expect.anything(),
    ]);
    old.rejoin();
    expect([await stale.client.ping(), ensemble.leader, old.isLeader]).toEqual(['closed', one, false]);
    expect(await RawClient.open(old, moved.client.session)).toBeUndefined();
  });

  it('ends an expired session when it is back', async () => {
    const ensemble = await startTimed({ syncLimitMs: 20 * TICK_MS });
    const [leader, one] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, one);
    leader.cutOff();
    await pass(ensemble, TIMEOUT_MS + TICK_MS);
    expect([await client.ping(), session.isOpen]).toEqual([0, true]);
    expect(await RawClient.open(leader, client.session)).toBeUndefined();
    leader.rejoin();
    expect([await client.ping(), session.isOpen]).toEqual(['closed', false]);
  });

  it('works after restore(), also when it stood still', async () => {
    const ensemble = await startTimed();
    const [leader, one, other] = rolesOf(ensemble);
    one.cutOff();
    other.freeze();
    await pass(ensemble, 20 * TICK_MS);
    expect(ensemble.leader).toBeUndefined();
    await ensemble.restore();
    const { client } = await openAt(ensemble, one);
    expect(await client.create('/a')).toBe(0);
    expect([leader, one, other].map((server) => server.znode('/a')?.kind)).toEqual(Array(3).fill('persistent'));
  });
});

describe('containers', () => {
  it('are checked when a test calls reap()', async () => {
    const ensemble = await startTimed();
    const zookeeper = await startServer();
    for (const [server, reap] of [
      [rolesOf(ensemble)[0], () => ensemble.reap()],
      [zookeeper, () => zookeeper.reap()],
    ] as const) {
      const client = (await RawClient.open(server))!;
      expect(await client.create('/used', CONTAINER)).toBe(0);
      expect(await client.create('/used/child', EPHEMERAL)).toBe(0);
      server.expireSessions();
      expect(server.znode('/used')).toBeDefined();
      reap();
      expect(server.znode('/used')).toBeUndefined();
    }
  });

  it('are not removed by a leader that is cut off before it is back', async () => {
    const ensemble = await startTimed();
    const [leader, one] = rolesOf(ensemble);
    const client = (await RawClient.open(one))!;
    await client.create('/used', CONTAINER);
    await client.create('/used/child', EPHEMERAL);
    one.expireSessions();
    leader.cutOff();
    ensemble.reap();
    expect(leader.znode('/used')).toBeDefined();
    leader.rejoin();
    expect(one.znode('/used')).toBeUndefined();
  });
});

describe('the times of an embedded ensemble', () => {
  it.each(['peerDelayMs', 'electionMs', 'syncLimitMs', 'expiryDelayMs'] as const)('are checked: %s', async (field) => {
    for (const ms of [-1, NaN, Infinity, '5']) {
      const start = EmbeddedEnsemble.start(1, { [field]: ms } as EmbeddedEnsembleOptions);
      await expect(start).rejects.toThrow(new RegExp(`^${field} must be`));
      await expect(start).rejects.toBeInstanceOf(LockConfigurationError);
    }
  });
});
