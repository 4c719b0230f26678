import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { ZooKeeperServer } from '../../lib/testing/index.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** The connect string of a real ZooKeeper: `inject('zookeeper')`. */
    zookeeper: string;
  }
}

/**
 * One ZooKeeper for the whole run: the one that ZOOKEEPER_CONNECT names, or a server of our own. Its ticks are short,
 * so that a test may use sessions of 1 to 10 seconds.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['ZOOKEEPER_CONNECT'];
  if (given) {
    project.provide('zookeeper', given);
    return async () => {};
  }
  const server = await ZooKeeperServer.start({ tickTimeMs: 500, containerCheckIntervalMs: 1_000 });
  project.provide('zookeeper', server.connectString);
  return () => server.stop();
}
