import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freeServerPorts } from '../../lib/testing/server-ports.js';
import type { Server } from './server.js';
import { countsOf } from './zookeeper-counts.js';
import { asInProduction, SETTINGS } from './zookeeper-settings.js';

const NODES = 3;
const ATTEMPTS = 3;

/**
 * Three ZooKeeper servers that communicate directly. `ZooKeeperEnsemble` would route their traffic through a network in
 * this process, and each write would wait for that.
 */
export async function startEnsemble(): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce();
    } catch (error) {
      if (!/BindException|address already in use/i.test(String(error)) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function startOnce(): Promise<Server> {
  const ports = await freeServerPorts(3 * NODES);
  const dirs = ports.slice(0, NODES).map((_, place) => serverDir(place + 1));
  const removeDirs = () => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true }));
  const peers = dirs.map((_, place) => [
    `server.${place + 1}`,
    `127.0.0.1:${ports[NODES + place]}:${ports[2 * NODES + place]}`,
  ]);
  const settings = { ...SETTINGS, initLimit: 10, syncLimit: 5, ...Object.fromEntries(peers) };
  const starts = await asInProduction(() =>
    Promise.allSettled(
      dirs.map((dataDir, place) =>
        ZooKeeperServer.start({ port: ports[place]!, tickTimeMs: 2_000, dataDir, settings }),
      ),
    ),
  );
  const servers = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    removeDirs();
  };
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed) await stop().then(() => Promise.reject(failed.reason as Error));
  return {
    address: servers.map((server) => server.connectString).join(','),
    counts: () => countsOf(servers),
    stop,
  };
}

function serverDir(id: number): string {
  const dir = mkdtempSync(join(tmpdir(), 'zookeeper-bench-'));
  mkdirSync(join(dir, 'data'));
  writeFileSync(join(dir, 'data', 'myid'), String(id));
  return dir;
}
