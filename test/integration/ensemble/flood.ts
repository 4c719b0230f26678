import { onTestFinished } from 'vitest';
import { CreateMode } from '../../../lib/zookeeper/client/zookeeper-client.js';
import type { EnsembleServer } from '../../../lib/testing/index.js';
import { openClient, untilContenders } from '../../support/znodes.js';
import { keepAlive } from './contest.js';
import type { Contest } from './contest.js';

const KEYS = 80;
const EVERY_MS = 50;
const ANYONE = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

/**
 * Sends a steady stream of watch events to the holder: it is queued for many other keys, whose holders are deleted one
 * after the other. Returns how many were deleted.
 */
export async function flood({ basePath, holder }: Pick<Contest, 'basePath' | 'holder'>, at: EnsembleServer) {
  const client = await openClient(at.connectString);
  keepAlive(client);
  const ahead = await Promise.all(
    Array.from({ length: KEYS }, async (_, number) => {
      const parent = `${basePath}/flood-${number}`;
      const node = { data: Buffer.alloc(0), acl: ANYONE };
      await client.create({ ...node, path: parent, mode: CreateMode.persistent });
      return client.create({ ...node, path: `${parent}/lock-`, mode: CreateMode.ephemeralSequential });
    }),
  );
  ahead.forEach((_, number) => void holder.acquire(`flood-${number}`).catch(() => {}));
  await Promise.all(ahead.map((_, number) => untilContenders(client, `${basePath}/flood-${number}`, 2)));
  let gone = 0;
  const going = setInterval(() => {
    const next = ahead.pop();
    if (next) void client.delete(next.path).then(() => gone++);
  }, EVERY_MS);
  onTestFinished(() => clearInterval(going));
  return () => gone;
}
