import { onTestFinished } from 'vitest';
import { CoordinationService } from '../../../lib/index.js';
import { ZooKeeperFaultProxy } from '../../../lib/testing/index.js';
import { freshBasePath } from '../base-path.js';
import { openService } from '../services.js';
import type { ServiceOptions } from '../services.js';
import { openClient } from '../znodes.js';

/** A service with a session of its own, as another process would have; closed when the test has finished. */
export async function openCoordination(options: ServiceOptions): Promise<CoordinationService> {
  return new CoordinationService(await openService(options));
}

/** Two services with a session each, as in two processes, and a client that observes from outside. */
export async function coordinated(connectString: string, options: Partial<ServiceOptions> = {}) {
  const basePath = freshBasePath();
  const [one, other, client] = await Promise.all([
    openCoordination({ connectString, basePath, ...options }),
    openCoordination({ connectString, basePath, ...options }),
    openClient(connectString),
  ]);
  return { one, other, client, basePath };
}

/** One service whose session can be made to expire, and another one. */
export async function withUnlucky(connectString: string, options: Partial<ServiceOptions> = {}) {
  const basePath = freshBasePath();
  const proxy = await ZooKeeperFaultProxy.open(connectString);
  onTestFinished(() => proxy.close());
  const [unlucky, other, client] = await Promise.all([
    openCoordination({ ...options, connectString: proxy.connectString, basePath }),
    openCoordination({ connectString, basePath }),
    openClient(connectString),
  ]);
  return { proxy, unlucky, other, client, basePath };
}
