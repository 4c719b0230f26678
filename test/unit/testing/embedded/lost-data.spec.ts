import { describe, expect, it } from 'vitest';
import type { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { RawClient } from '../../../integration/ensemble/behaviours/raw-client.js';
import { eventually } from '../../../support/eventually.js';
import { openAt, pass, passUntil, rolesOf, startTimed, TICK_MS, TIMEOUT_MS } from './passing-time.js';
import { ANYONE, EMPTY } from './servers.js';

const FRESH = ['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota'];
const EPHEMERAL = 1;
/** Without a data loss, an election derives the next zxid from the time. This is the time that passes here. */
const LATER_MS = 100;

/** Creates some znodes, one after the other. Returns the zxid of the last transaction. */
async function fill(ensemble: EmbeddedEnsemble): Promise<bigint> {
  const [leader] = rolesOf(ensemble);
  const { client } = await openAt(ensemble, leader);
  for (const path of ['/a', '/b', '/c']) expect(await client.create(path)).toBe(0);
  return leader.znode('/c')!.stat.czxid;
}

async function loseAndRestore(ensemble: EmbeddedEnsemble): Promise<void> {
  await ensemble.loseData();
  await ensemble.restore();
}

describe('loseData() of an embedded ensemble', () => {
  it('stops all servers, which are unreachable until they are restored', async () => {
    const ensemble = await startTimed();
    const [leader, one] = rolesOf(ensemble);
    const { client } = await openAt(ensemble, one);
    await ensemble.loseData();
    expect(ensemble.servers.map(({ isRunning }) => isRunning)).toEqual([false, false, false]);
    expect([await client.ping(), ensemble.leader]).toEqual(['closed', undefined]);
    expect([await RawClient.open(leader), await RawClient.open(one)]).toEqual([undefined, undefined]);
    await ensemble.restore();
    expect(await RawClient.open(one)).toBeDefined();
  });

  it('stops them also when some have stopped before', async () => {
    const ensemble = await startTimed();
    await ensemble.loseQuorum();
    await loseAndRestore(ensemble);
    expect(ensemble.servers.map(({ isRunning }) => isRunning)).toEqual([true, true, true]);
    expect(ensemble.leader).toBeDefined();
  });

  it('leaves neither znodes nor sessions on any server', async () => {
    const ensemble = await startTimed();
    const [, one] = rolesOf(ensemble);
    const { client, session } = await openAt(ensemble, one);
    await client.create('/kept');
    await client.create('/own', EPHEMERAL);
    await loseAndRestore(ensemble);
    for (const server of ensemble.servers) expect([server.paths(), server.sessions()]).toEqual([FRESH, []]);
    expect(session.isOpen).toBe(false);
    expect(await RawClient.open(one, client.session)).toBeUndefined();
    expect(await (await openAt(ensemble, one)).client.create('/kept')).toBe(0);
    // The expiry of the lost session does not affect the new ones.
    await pass(ensemble, TICK_MS);
    expect(one.sessions()).toHaveLength(1);
    await pass(ensemble, TIMEOUT_MS);
    expect(one.sessions()).toEqual([]);
  });

  it('leaves no data on a server that lagged or was cut off', async () => {
    const ensemble = await startTimed({ peerDelayMs: 10 });
    const [leader, one, other] = rolesOf(ensemble);
    const { client } = await openAt(ensemble, leader);
    one.cutOff();
    other.lag(Infinity);
    await passUntil(ensemble, client.create('/kept'));
    await loseAndRestore(ensemble);
    await pass(ensemble, TICK_MS);
    for (const server of ensemble.servers) expect(server.paths()).toEqual(FRESH);
    const { client: back } = await openAt(ensemble, one);
    expect((await passUntil(ensemble, back.create('/kept')))[1]).toBe(0);
  });

  it('restarts the zxids at the beginning, so that they are used again', async () => {
    const startedAt = Date.now();
    const ensemble = await startTimed();
    const first = await fill(ensemble);
    await eventually(() => Date.now() > startedAt + LATER_MS || undefined, 'some time has passed');
    await loseAndRestore(ensemble);
    expect(await fill(ensemble)).toBeLessThanOrEqual(first);
    await loseAndRestore(ensemble);
    expect(await fill(ensemble)).toBeLessThanOrEqual(first);
  });

  it('refuses a client with a greater last zxid, until it connects without one', async () => {
    const ensemble = await startTimed();
    const [leader] = rolesOf(ensemble);
    for (let times = 0; times < 3; times++) {
      await leader.kill();
      await leader.restart();
    }
    const { client } = await openAt(ensemble, leader);
    await client.create('/a');
    const lastZxid = leader.znode('/a')!.stat.czxid;
    expect(await RawClient.open(leader, { lastZxid })).toBeDefined();
    await loseAndRestore(ensemble);
    expect(await RawClient.open(leader, { lastZxid })).toBeUndefined();
    expect(await RawClient.open(leader, { lastZxid, ...client.session })).toBeUndefined();
    expect(await RawClient.open(leader)).toBeDefined();
  });

  it('is detected by a client of this package, which can create a new session', async () => {
    const ensemble = await startTimed({ clock: 'running', tickTimeMs: 500 });
    const { client, next, told } = await connectClient(ensemble.connectString, { sessionTimeoutMs: 1_000 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: EPHEMERAL });
    const ended = next('ended');
    await loseAndRestore(ensemble);
    expect(['expired', 'the servers lost data']).toContain(await ended);
    expect(told).toContain('disconnected');
    const again = await connectClient(ensemble.connectString, { sessionTimeoutMs: 1_000 });
    await again.client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: EPHEMERAL });
  });
});
