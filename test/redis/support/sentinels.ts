import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RedisSentinels } from '../../../lib/redis/index.js';
import { RedisServer } from '../../../lib/testing/index.js';
import { unusedPort } from '../../support/unused-port.js';
import { ask } from './ask.js';

const NAME = 'shop';
const COUNT = 3;
const REPLICAS = 2;
const DOWN_AFTER_MS = 2_000;
/** A primary whose replicas have been silent for a second refuses writes: sooner than another one is promoted. */
const GUARD = { 'min-replicas-to-write': 1, 'min-replicas-max-lag': 1 };

/** Servers behind sentinels, which promote one of two replicas when the primary does not answer. */
export interface Watched {
  /** The primary at the start. */
  readonly primary: RedisServer;
  /** For the option of `redis()`. */
  readonly sentinels: RedisSentinels;
  /** Returns the port of the present primary, as the sentinels know it. */
  primaryPort(): Promise<number>;
}

/** Starts a primary, two replicas and three sentinels. They end when the test has finished. */
export async function watchedBySentinels(): Promise<Watched> {
  const primary = await startServer();
  const follow = { replicaof: `127.0.0.1 ${primary.port}` };
  await Promise.all(Array.from({ length: REPLICAS }, () => startServer(follow)));
  await expect.poll(() => primary.ask('INFO', 'replication')).toContain(`min_slaves_good_slaves:${REPLICAS}`);
  const ports = await Promise.all(Array.from({ length: COUNT }, () => startSentinel(primary.port)));
  const addresses = ports.map((port) => ({ host: '127.0.0.1', port }));
  // They vote only when they know each other, and the replicas.
  for (const port of ports) {
    const state = async () => (await ask(port, 'SENTINEL', 'MASTER', NAME)).join(' ');
    await expect.poll(state).toMatch(/num-slaves 2 num-other-sentinels 2/);
  }
  return {
    primary,
    sentinels: { name: NAME, sentinels: addresses },
    primaryPort: async () => {
      const [, port] = await ask(ports[0] ?? 0, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
      return Number(port);
    },
  };
}

async function startServer(settings = {}): Promise<RedisServer> {
  const server = await RedisServer.start({ settings: { 'repl-diskless-sync-delay': 0, ...GUARD, ...settings } });
  onTestFinished(() => server.stop());
  return server;
}

/** Resolves with the port of a sentinel that answers. */
async function startSentinel(primaryPort: number): Promise<number> {
  const [port, dir] = [await unusedPort(), mkdtempSync(join(tmpdir(), 'sentinel-'))];
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 3000`,
  ];
  const file = join(dir, 'sentinel.conf');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true });
  });
  await expect.poll(() => ask(port, 'PING').catch(() => [])).toEqual(['PONG']);
  return port;
}
