import { onTestFinished } from 'vitest';
import { LockService } from '../../lib/service/lock.service.js';
import { zookeeper } from '../../lib/zookeeper/zookeeper.backend.js';
import type { ZooKeeperOptions } from '../../lib/zookeeper/zookeeper.options.js';

export interface ServiceOptions extends ZooKeeperOptions {
  readonly waitMs?: number;
  readonly drainTimeoutMs?: number;
  readonly connectOnStart?: 'required' | 'background';
  /** Default `false`: every caller is a contender of its own, as callers in other processes would be. */
  readonly localLine?: boolean;
  readonly keepMs?: number;
}

/** A service with a session of its own, as another process would have; closed when the test has finished. */
export async function openService(options: ServiceOptions): Promise<LockService> {
  const {
    waitMs = 20_000,
    drainTimeoutMs = 0,
    connectOnStart = 'required',
    localLine = false,
    keepMs = 0,
    ...backend
  } = options;
  const definition = zookeeper({ sessionTimeoutMs: 4_000, ...backend });
  const service = new LockService(definition.create(), {
    connectionName: 'default',
    waitMs,
    drainTimeoutMs,
    connectOnStart,
    localLine,
    keepMs,
  });
  onTestFinished(() => closeService(service));
  await service.onModuleInit();
  return service;
}

/** What `app.close()` does to it. */
export async function closeService(service: LockService): Promise<void> {
  service.beforeApplicationShutdown();
  await service.onApplicationShutdown();
}
