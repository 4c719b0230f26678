import { LockService } from '../../lib/service/lock.service.js';
import type { LockServiceOptions } from '../../lib/service/lock-service.options.js';
import { zookeeper } from '../../lib/zookeeper/zookeeper.backend.js';
import type { ZooKeeperOptions } from '../../lib/zookeeper/zookeeper.options.js';

export type PlainServiceOptions = ZooKeeperOptions & Partial<Omit<LockServiceOptions, 'connectionName'>>;

/** A connected service with a session of its own, as a Nest application would have it. The caller closes it. */
export async function plainService(
  options: PlainServiceOptions,
  onMade: (service: LockService) => void = () => {},
): Promise<LockService> {
  const {
    service: own = 'test',
    waitMs = 60_000,
    drainTimeoutMs = 0,
    connectOnStart = 'required',
    ...others
  } = options;
  const { localLine, keepMs, ...backend } = others;
  const sharing = { ...(localLine !== undefined && { localLine }), ...(keepMs !== undefined && { keepMs }) };
  const settings = { connectionName: 'default', service: own, waitMs, drainTimeoutMs, connectOnStart, ...sharing };
  const service = new LockService(zookeeper(backend).create(), settings);
  // A service that never connects has to be closed, too.
  onMade(service);
  await service.onModuleInit();
  return service;
}

/** Does what `app.close()` does to a service. */
export async function closeService(service: LockService): Promise<void> {
  service.beforeApplicationShutdown();
  await service.onApplicationShutdown();
}
