import type { TestProject } from 'vitest/node';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import { SETTINGS } from './zookeeper.js';

/** Starts one embedded server for the whole run, whatever other servers there are. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await EmbeddedZooKeeper.start(SETTINGS);
  project.provide('zookeeper', server.connectString);
  return () => server.stop();
}
