import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const CLASSES = at('../../build/peers/');
const JARS = ['curator-recipes', 'jackson-databind'].map((name) => `/usr/share/java/${name}.jar`).join(':');
const LIMIT = { timeout: 150_000 };

const run = promisify(execFile);
const printed = async (file: string, ...args: readonly string[]) => (await run(file, args, LIMIT)).stdout.split('\n');

const startServer = async () => {
  const options = { tickTimeMs: 500, containerCheckIntervalMs: 300, extendedTypes: true };
  const zookeeper = await EmbeddedZooKeeper.start(options);
  onTestFinished(() => zookeeper.stop());
  return zookeeper;
};

/**
 * Does what `reconnect` waits for: a client loses its connection, and misses what happens before it has another one.
 */
async function cutOff(zookeeper: EmbeddedZooKeeper): Promise<void> {
  await eventually(() => zookeeper.ownerOf('/gone') && zookeeper.ownerOf('/kept'), 'the znodes of the C client');
  zookeeper.session('/kept').disconnect();
  zookeeper.session('/gone').expire();
}

// The clients and recipes are Debian's, unchanged.
describe('the embedded server serves', { timeout: 200_000 }, () => {
  it("kazoo's recipes", async () => {
    const { connectString } = await startServer();
    const done = await printed('/usr/bin/python3', at('peers/kazoo_recipes.py'), connectString);
    expect(done).toEqual(
      expect.arrayContaining([
        'lock',
        'read_write_lock',
        'semaphore',
        'election',
        'barrier',
        'double_barrier',
        'queue',
      ]),
    );
    expect(done).toContain('reconnect');
  });

  it("Curator's recipes", async () => {
    const { connectString } = await startServer();
    mkdirSync(CLASSES, { recursive: true });
    await run('javac', ['-d', CLASSES, '-cp', JARS, at('peers/CuratorRecipes.java')], LIMIT);
    const done = await printed('java', '-cp', `${CLASSES}:${JARS}`, 'CuratorRecipes', connectString);
    expect(done).toEqual(
      expect.arrayContaining(['mutex', 'readWriteLock', 'multiLock', 'semaphore', 'leaderLatch', 'leaderSelector']),
    );
    expect(done).toContain('timeToLive');
  });

  it("ZooKeeper's C client", async () => {
    const zookeeper = await startServer();
    const client = printed('/usr/bin/python3', '-B', at('peers/c_client.py'), zookeeper.connectString);
    const [done] = await Promise.all([client, cutOff(zookeeper)]);
    expect(done).toEqual(
      expect.arrayContaining([
        'create',
        'read_and_write',
        'removed_by_the_server',
        'watches',
        'removed_watches',
        'transactions',
        'permissions',
        'chroot',
        'lock',
        'many_locks',
      ]),
    );
    expect(done).toContain('reconnect');
  });

  it("ZooKeeper's own command line", async () => {
    const { connectString } = await startServer();
    const client = ['-cp', '/usr/share/java/zookeeper.jar', 'org.apache.zookeeper.ZooKeeperMain'];
    const done = await printed('java', ...client, '-server', connectString, 'ls', '-R', '/');
    expect(done).toEqual(expect.arrayContaining(['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']));
  });
});
