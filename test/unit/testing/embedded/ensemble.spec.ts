import { describe, expect, it, onTestFinished } from 'vitest';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EnsembleMember } from '../../../../lib/testing/index.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { freshBasePath } from '../../../support/base-path.js';
import { eventually } from '../../../support/eventually.js';
import { openService } from '../../../support/services.js';
import { openRawSession } from './raw.js';
import { ANYONE, EMPTY } from './servers.js';

const startEnsemble = async (servers = 3) => {
  const ensemble = await EmbeddedEnsemble.start(servers, { tickTimeMs: 500 });
  onTestFinished(() => ensemble.stop());
  return ensemble;
};

describe('an embedded ensemble', () => {
  it('has common data: a write at one server is read at the others', async () => {
    const ensemble = await startEnsemble();
    const [one, other] = await Promise.all(
      ensemble.servers.slice(0, 2).map((server) => connectClient(server.connectString)),
    );
    await one!.client.create({ path: '/a', data: Buffer.from('x'), acl: ANYONE, mode: 0 });
    const watch = await other!.client.watch('/a');
    await one!.client.delete('/a');
    await watch.fired;
    expect(ensemble.servers.map(({ isLeader }) => isLeader)).toEqual([true, false, false]);
    expect(await ensemble.servers[1]!.ask('srvr')).toContain('Mode: follower');
  });

  it('keeps a lease whose server is killed', async () => {
    const ensemble = await startEnsemble();
    const basePath = freshBasePath();
    const locks = await openService({ connectString: ensemble.connectString, basePath });
    const lease = await locks.acquire('k');
    for (const server of ensemble.servers) {
      await server.kill();
      await server.restart();
    }
    await eventually(() => lease.state === 'held' || undefined, 'held');
    await lease.release();
    expect(await locks.tryAcquire('k', { waitMs: 20_000 })).not.toBeNull();
  });

  it('has a larger zxid after an election', async () => {
    const ensemble = await startEnsemble();
    const { client, next } = await connectClient(ensemble.connectString);
    const before = await client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    const again = next('connected');
    await ensemble.leader?.kill();
    await again;
    expect(ensemble.leader?.id).toBe(2);
    const after = await client.create({ path: '/b', data: EMPTY, acl: ANYONE, mode: 0 });
    expect(after.czxid - before.czxid).toBeGreaterThan(1_000n);
  });

  it('answers a sync after an election, also without a write', async () => {
    // No session may expire, since that would be a write of the server.
    const ensemble = await EmbeddedEnsemble.start(3, { clock: 'manual' });
    onTestFinished(() => ensemble.stop());
    const { client, next } = await connectClient(ensemble.connectString);
    const again = next('connected');
    await ensemble.leader?.kill();
    await again;
    expect(await client.sync('/').then(() => 'answered')).toBe('answered');
  });

  it('serves no client without a majority, and lets no session expire meanwhile', async () => {
    const ensemble = await startEnsemble();
    const { client, told, next } = await connectClient(ensemble.connectString, { sessionTimeoutMs: 1_000 });
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const gone = next('disconnected');
    await ensemble.loseQuorum();
    await gone;
    expect(ensemble.leader).toBeUndefined();
    expect(ensemble.servers.filter(({ isRunning }) => isRunning)).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const back = next('connected');
    await ensemble.restore();
    await back;
    expect(told).toEqual(['connected', 'disconnected', 'connected']);
    expect(ensemble.servers[0]!.znode('/own')?.kind).toBe('ephemeral');
  });

  it('has lagging servers: they read old data, send no events, and catch up with a sync', async () => {
    const ensemble = await startEnsemble();
    const [ahead, behind] = ensemble.servers as [EnsembleMember, EnsembleMember];
    const [writer, reader] = await Promise.all([
      connectClient(ahead.connectString),
      connectClient(behind.connectString),
    ]);
    await writer.client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    const watch = await reader.client.watch('/a');
    behind.lag(Infinity);
    await writer.client.create({ path: '/b', data: EMPTY, acl: ANYONE, mode: 0 });
    await writer.client.delete('/a');
    await reader.client.read('/a');
    await expect(reader.client.read('/b')).rejects.toMatchObject({ code: -101 });
    expect([behind.znode('/a'), ahead.znode('/a')]).toEqual([expect.anything(), undefined]);

    const order: string[] = [];
    void watch.fired.then(() => order.push('event'));
    const synced = reader.client.sync('/').then(() => order.push('sync'));
    await ensemble.idle();
    expect(order).toEqual([]);
    behind.lag(50);
    await synced;
    expect(order).toEqual(['event', 'sync']);
    await reader.client.read('/b');
  });

  it('answers the writes of a lagging server when that server has received them', async () => {
    const ensemble = await startEnsemble();
    const [, behind] = ensemble.servers as [EnsembleMember, EnsembleMember];
    const { client } = await connectClient(behind.connectString);
    behind.lag(200);
    const askedAt = performance.now();
    await client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    expect(performance.now() - askedAt).toBeGreaterThan(190);
    await client.read('/a');
  });

  it('has servers that refuse clients while there is no leader, whatever is healed', async () => {
    const ensemble = await startEnsemble();
    await ensemble.loseQuorum();
    const [left] = ensemble.servers.filter(({ isRunning }) => isRunning);
    left!.heal();
    await expect(greeting(left!)).resolves.toBe('refused');
    await ensemble.restore();
    await expect(greeting(left!)).resolves.toBe('welcome');
  });

  it('has servers that refuse clients until they are healed, whichever leads', async () => {
    const ensemble = await startEnsemble();
    const [leader, , refusing] = ensemble.servers as [EnsembleMember, EnsembleMember, EnsembleMember];
    refusing.refuse();
    await leader.kill();
    await expect(greeting(refusing)).resolves.toBe('refused');
    refusing.heal();
    await expect(greeting(refusing)).resolves.toBe('welcome');
  });

  it('removes no container while it has no leader', async () => {
    const ensemble = await EmbeddedEnsemble.start(3, { clock: 'manual', containerCheckIntervalMs: 1_000 });
    onTestFinished(() => ensemble.stop());
    const { client } = await connectClient(ensemble.connectString);
    await client.create({ path: '/used', data: EMPTY, acl: ANYONE, mode: 4 });
    await client.create({ path: '/used/child', data: EMPTY, acl: ANYONE, mode: 0 });
    await client.delete('/used/child');
    await ensemble.loseQuorum();
    ensemble.advance(5_000);
    expect(ensemble.servers[0]!.znode('/used')).toBeDefined();
    await ensemble.restore();
    ensemble.advance(5_000);
    expect(ensemble.servers[0]!.znode('/used')).toBeUndefined();
  });

  it('is idle when all servers have received all writes', async () => {
    const ensemble = await startEnsemble();
    const [, behind] = ensemble.servers as [EnsembleMember, EnsembleMember];
    const { client } = await connectClient(behind.connectString);
    behind.lag(200);
    let isDone = false;
    const created = client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 }).then(() => (isDone = true));
    await eventually(() => ensemble.servers[0]!.znode('/a'), 'it is written');
    await ensemble.idle();
    expect([behind.znode('/a') !== undefined, isDone]).toEqual([true, true]);
    await created;
  });

  it.each([-1, NaN, 2 ** 31])('refuses a lag of %d ms', async (ms) => {
    const ensemble = await startEnsemble(1);
    expect(() => ensemble.servers[0]!.lag(ms)).toThrow(LockConfigurationError);
  });
});

const greeting = (server: EnsembleMember): Promise<'welcome' | 'refused'> =>
  openRawSession(server).then(
    () => 'welcome',
    () => 'refused',
  );
