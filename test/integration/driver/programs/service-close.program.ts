import { Logger } from '@nestjs/common';
import { LockService } from '../../../../lib/service/lock.service.js';
import { zookeeper } from '../../../../lib/zookeeper/zookeeper.backend.js';
import { hangUp, ordersOf, say } from './orders.js';

// Any other output of this program is an error.
Logger.overrideLogger(false);

// Closes a service on request. Without pending work, the program ends by itself.
const { connectString, basePath } = ordersOf<{ connectString: string; basePath: string }>();
const definition = zookeeper({ connectString, basePath, sessionTimeoutMs: 4_000, connectTimeoutMs: 60_000 });
const service = new LockService(definition.create(), {
  connectionName: 'default',
  waitMs: 60_000,
  drainTimeoutMs: 0,
  connectOnStart: 'background',
});
process.once('message', () => {
  hangUp();
  service.beforeApplicationShutdown();
  void service.onApplicationShutdown();
});
await service.onModuleInit();
say('begun');
// One holder and one waiter, if there is a server.
const holds = service.acquire('k').then(
  () => say('held'),
  () => {},
);
const waits = service.mutex('k').acquire({ reentrant: false });
await Promise.allSettled([holds, waits]);
