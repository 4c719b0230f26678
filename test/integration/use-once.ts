import { expect, onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import type { ZooKeeperClient } from '../../lib/zookeeper/client/zookeeper-client.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { openClient } from '../support/znodes.js';

// The server removes no empty containers by itself within a test.
const NEVER_MS = 3_600_000;
const PROCESSES = 2;
const CALLERS = 50;
/** The most znodes that may be left, whatever the number of keys. */
export const MOST_LEFT = 1_000;
const AGAIN = 100;

/**
 * Uses many keys once, each in one of two processes. Checks that tokens still grow. Resolves with the number of znodes
 * that are left, once that is small.
 */
export async function leftOf(keys: number): Promise<number> {
  const server = await EmbeddedZooKeeper.start({ containerCheckIntervalMs: NEVER_MS });
  onTestFinished(() => server.stop());
  const basePath = freshBasePath();
  const options = { connectString: server.connectString, basePath };
  const services = await Promise.all(Array.from({ length: PROCESSES }, () => openService(options)));
  const tokens = new Map<string, bigint>();
  let next = 0;
  const call = async (caller: number) => {
    while (next < keys) {
      const key = `order/${next++}`;
      await services[caller % PROCESSES]!.using(key, ({ fencingToken }) => void tokens.set(key, fencingToken));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(caller)));
  expect(tokens.size).toBe(keys);

  const client = await openClient(server.connectString);
  const left = await eventually(async () => {
    const count = await countBelow(client, basePath);
    return count <= MOST_LEFT ? { count } : undefined;
  }, 'few znodes are left');
  const largest = [...tokens.values()].reduce((most, token) => (token > most ? token : most));
  for (const key of [...tokens.keys()].slice(0, AGAIN)) {
    await services[0]!.using(key, ({ fencingToken }) => expect(fencingToken).toBeGreaterThan(largest));
  }
  return left.count;
}

async function countBelow(client: ZooKeeperClient, path: string): Promise<number> {
  const names = await client.children(path).catch(() => []);
  // A long list is too many, whatever is below.
  if (names.length > MOST_LEFT) return names.length;
  const below = await Promise.all(names.map((name) => countBelow(client, `${path}/${name}`)));
  return below.reduce((sum, count) => sum + count, names.length);
}
