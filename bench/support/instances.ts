import { Logger } from '@nestjs/common';
import type { LockBackendDefinition } from '../../lib/contract/lock-backend.js';
import { DEFAULTS } from '../../lib/lock.options.js';
import { LockService } from '../../lib/service/lock.service.js';
import { zookeeper } from '../../lib/zookeeper/zookeeper.backend.js';

// Answers are lines on the standard output, so nothing else may be written there.
Logger.overrideLogger(['error']);

/** Returns services with a session each, like so many instances of an application. */
export async function openInstances(count: number, connectString: string): Promise<readonly LockService[]> {
  return instancesOn(count, zookeeper({ connectString, basePath: '/bench', sessionTimeoutMs: 30_000 }));
}

/** Returns services with a backend each. */
export async function instancesOn(count: number, backend: LockBackendDefinition): Promise<readonly LockService[]> {
  const instances = Array.from({ length: count }, () => new LockService(backend.create(), OPTIONS));
  await Promise.all(instances.map((instance) => instance.onModuleInit()));
  return instances;
}

const OPTIONS = { ...DEFAULTS, connectionName: 'default', waitMs: 60_000, drainTimeoutMs: 0 } as const;

export async function closeInstances(instances: readonly LockService[]): Promise<void> {
  instances.forEach((instance) => instance.beforeApplicationShutdown());
  await Promise.all(instances.map((instance) => instance.onApplicationShutdown()));
}
