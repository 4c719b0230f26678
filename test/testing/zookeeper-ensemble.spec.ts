import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ZooKeeperEnsemble } from '../../lib/testing/index.js';
import type { EnsembleServer } from '../../lib/testing/index.js';
import { CreateMode, ErrorCode } from '../../lib/zookeeper/client/zookeeper-client.js';
import type { ZooKeeperClient } from '../../lib/zookeeper/client/zookeeper-client.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openClient } from '../support/znodes.js';

const TICK_MS = 500;
// A follower that is cut off keeps answering for this long. That is time enough to ask it, also on a busy machine.
const SYNC_LIMIT = 6;
const SYNC_MS = SYNC_LIMIT * TICK_MS;

describe('ZooKeeperEnsemble', () => {
  let ensemble: ZooKeeperEnsemble;
  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start({ tickTimeMs: TICK_MS, syncLimit: SYNC_LIMIT });
  });
  afterEach(() => ensemble.restore());
  afterAll(() => ensemble.stop());

  const aFollower = async (): Promise<EnsembleServer> => (await ensemble.followers())[0]!;
  const untilSilent = (server: EnsembleServer) =>
    eventually(async () => (await server.mode()) === undefined || undefined, 'a server that serves nobody');
  const untilLeaderIsNot = (old: EnsembleServer) =>
    eventually(async () => {
      const leader = await ensemble.leader();
      return leader === old ? undefined : leader;
    }, 'another leader');

  it('is one leader and followers, each with an address for clients', async () => {
    const leader = await ensemble.leader();
    expect(ensemble.servers).toHaveLength(3);
    expect(await leader.isLeader()).toBe(true);
    expect(new Set([leader, ...(await ensemble.followers())])).toEqual(new Set(ensemble.servers));
    expect(ensemble.connectString).toBe(ensemble.servers.map((server) => server.connectString).join(','));
    expect(await leader.ask('mntr')).toMatch(/zk_synced_followers\s+2/);
    expect(await leader.ask('conf')).toContain(`syncLimit=${SYNC_LIMIT}`);
  });

  it('replicates a write to the other servers', async () => {
    const [one, other] = await Promise.all(
      ensemble.servers.slice(0, 2).map((server) => openClient(server.connectString)),
    );
    const path = await createNode(one!);
    await other!.sync(path);
    expect((await other!.read(path)).stat.czxid).toBeGreaterThan(0n);
  });

  it('elects another leader when the leader is killed, and the killed one rejoins', async () => {
    const old = await ensemble.leader();
    await old.kill();
    expect(old.pid).toBeUndefined();
    const leader = await ensemble.leader();
    expect(leader).not.toBe(old);
    await old.restart();
    await eventually(async () => (await old.mode()) === 'follower' || undefined, 'the old leader as a follower');
    expect(await ensemble.leader()).toBe(leader);
  });

  it('serves while a follower is frozen, which answers again when thawed', async () => {
    const follower = await aFollower();
    await follower.freeze();
    expect(await ensemble.followers()).not.toContain(follower);
    const answered = vi.fn();
    const answer = follower.ask('ruok').finally(answered);
    await createNode(await openClient((await ensemble.leader()).connectString));
    expect(answered).not.toHaveBeenCalled();
    await follower.thaw();
    expect(await answer).toBe('imok');
  });

  it('cuts a follower off, which then serves only reads, until its timeout', async () => {
    const follower = await aFollower();
    const { connectString } = await ensemble.leader();
    // Two sessions on the follower: a session's replies come in order, so a blocked write also blocks the reads behind
    // it.
    const [reader, writer, outside] = await Promise.all(
      [follower.connectString, follower.connectString, connectString].map((one) => openClient(one)),
    );
    const synced = vi.fn();

    ensemble.partition(follower);
    const cutAt = performance.now();
    const path = await createNode(outside!);
    const syncing = writer!.sync('/').then(synced, () => {});
    expect((await reader!.read('/')).stat.numChildren).toBeGreaterThan(0);
    await expect(reader!.read(path)).rejects.toMatchObject({ name: 'KeeperError', code: ErrorCode.noNode });
    expect(await follower.mode()).toBe('follower');

    await untilSilent(follower);
    expect(performance.now() - cutAt).toBeGreaterThan(SYNC_MS - TICK_MS);
    await syncing;
    expect(synced).not.toHaveBeenCalled();
    expect(await (await ensemble.leader()).ask('mntr')).toMatch(/zk_synced_followers\s+1/);

    ensemble.heal();
    await eventually(async () => (await follower.mode()) === 'follower' || undefined, 'the follower back');
    expect((await (await openClient(follower.connectString)).read(path)).stat.version).toBe(0);
  });

  it('cuts the leader off: the others elect another one, and it steps down', async () => {
    const old = await ensemble.leader();
    ensemble.partition([old]);
    expect(await old.mode()).toBe('leader');
    const leader = await untilLeaderIsNot(old);
    await untilSilent(old);
    // Elections do not get through either, so this lasts as long as the cut.
    expect([await ensemble.leader(), await old.mode()]).toEqual([leader, undefined]);
    ensemble.heal();
    await eventually(async () => (await old.mode()) === 'follower' || undefined, 'the old leader as a follower');
  });

  it('loses its quorum when all are cut from each other, and regains it', async () => {
    const [one, other] = ensemble.servers;
    ensemble.partition(one!);
    ensemble.partition(other!);
    await Promise.all(ensemble.servers.map(untilSilent));
    expect(await ensemble.followers()).toEqual([]);
    await ensemble.restore();
    expect(await ensemble.followers()).toHaveLength(2);
  });

  it('keeps its data when all servers were down', async () => {
    const path = await createNode(await openClient(ensemble.connectString));
    await Promise.all(ensemble.servers.map((server) => server.kill()));
    await expect(ensemble.servers[0]!.ask('ruok')).rejects.toThrow(/ECONNREFUSED/);
    await Promise.all(ensemble.servers.map((server) => server.restart()));
    await ensemble.leader();
    const client = await openClient(ensemble.connectString);
    expect((await client.read(path)).stat.version).toBe(0);
  });
});

describe('the end of a ZooKeeperEnsemble', () => {
  it('removes its servers and their data', async () => {
    const ensemble = await ZooKeeperEnsemble.start({ servers: 2 });
    const pids = ensemble.servers.map((server) => server.pid!);
    const dirs = await Promise.all(ensemble.servers.map(dataDirOf));
    expect([...pids.map(isRunning), ...dirs.map(existsSync)]).toEqual([true, true, true, true]);
    await ensemble.servers[0]!.freeze();
    await ensemble.stop();
    expect([...pids.map(isRunning), ...dirs.map(existsSync)]).toEqual([false, false, false, false]);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('happens when its parent ends, in any way: %s', async (signal) => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', PARENT], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(parent, 'exit').then(() => Promise.reject(new Error('it did not start: is there a build?')));
    const [line] = (await Promise.race([once(createInterface(parent.stdout), 'line'), ended])) as [string];
    const pids = JSON.parse(line) as number[];
    expect(pids.map(isRunning)).toEqual([true, true, true]);
    ended.catch(() => {});
    parent.kill(signal);
    await vi.waitFor(() => expect(pids.map(isRunning)).toEqual([false, false, false]), 20_000);
  });
});

// The built package, because a plain Node process cannot run the sources.
const PARENT = `
  import { ZooKeeperEnsemble } from 'nestjs-distributed-lock/testing';
  const ensemble = await ZooKeeperEnsemble.start();
  console.log(JSON.stringify(ensemble.servers.map((server) => server.pid)));
`;

async function dataDirOf(server: EnsembleServer): Promise<string> {
  return /dataDir=(.*)\/data\/version-2/.exec(await server.ask('conf'))![1]!;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function createNode(client: ZooKeeperClient): Promise<string> {
  const acl = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
  const mode = CreateMode.persistent;
  return (await client.create({ path: freshBasePath(), data: Buffer.alloc(0), acl, mode })).path;
}
