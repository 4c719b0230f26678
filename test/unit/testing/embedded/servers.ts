import { onTestFinished } from 'vitest';
import { EmbeddedZooKeeper } from '../../../../lib/testing/index.js';
import type { EmbeddedZooKeeperOptions } from '../../../../lib/testing/index.js';

export const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];
export const EMPTY = Buffer.alloc(0);

/** A server for one test. Its ticks are short, so that sessions of one second and more are granted. */
export async function startServer(options: EmbeddedZooKeeperOptions = {}): Promise<EmbeddedZooKeeper> {
  const zookeeper = await EmbeddedZooKeeper.start({ tickTimeMs: 500, ...options });
  onTestFinished(() => zookeeper.stop());
  return zookeeper;
}
