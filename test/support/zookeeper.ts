import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { EmbeddedZooKeeper, ZooKeeperServer } from '../../lib/testing/index.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The connect string of a ZooKeeper, a real one unless TEST_ZOOKEEPER says `embedded`: `inject('zookeeper')`. */
    zookeeper: string;
  }
}

// Short ticks, so that a test may use sessions of 1 to 10 seconds.
const SETTINGS = { tickTimeMs: 500, containerCheckIntervalMs: 1_000 };

/**
 * One ZooKeeper for the whole run: the one that ZOOKEEPER_CONNECT names, or a server of our own; with TEST_ZOOKEEPER
 * `embedded`, the one that needs no Java.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['ZOOKEEPER_CONNECT'];
  if (given) {
    project.provide('zookeeper', given);
    return async () => {};
  }
  const isEmbedded = process.env['TEST_ZOOKEEPER'] === 'embedded';
  const server = isEmbedded ? await EmbeddedZooKeeper.start(SETTINGS) : await ZooKeeperServer.start(SETTINGS);
  project.provide('zookeeper', server.connectString);
  return () => server.stop();
}
