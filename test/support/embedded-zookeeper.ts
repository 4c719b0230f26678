import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';

/** One embedded server for the whole run, with the times of the real one (see zookeeper.ts). */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await EmbeddedZooKeeper.start({ tickTimeMs: 500 });
  project.provide('zookeeper', server.connectString);
  return () => server.stop();
}
