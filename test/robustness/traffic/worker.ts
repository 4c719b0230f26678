/** One process of an application: its own session, and a few clients that acquire locks until they are stopped. */
import { LockService } from '../../../lib/service/lock.service.js';
import type { LockBackend } from '../../../lib/contract/lock-backend.js';
import { etcd } from '../../../lib/etcd/index.js';
import { redis } from '../../../lib/redis/index.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { Random } from '../random.js';
import { Beliefs } from './beliefs.js';
import { Client } from './client.js';
import type { ClientTools } from './client.js';
import { runFinalRound } from './final-round.js';
import { FileJournal } from './journal.js';
import { keysOf } from './orders.js';
import type { Order, Report, WorkerOrders } from './orders.js';
import { withDefect } from './planted-locks.js';
import { RegisterClient } from './register-client.js';

const orders = JSON.parse(process.argv[2] ?? '') as WorkerOrders;
const tell = (report: Report) => void process.send?.(report);
const journal = new FileJournal(orders.journal);
process.on('warning', (warning) => journal.write({ what: 'warning', text: String(warning.stack ?? warning) }));

const register = new RegisterClient(journal, tell);
const tools: ClientTools = {
  locks: openLocks(),
  beliefs: new Beliefs(orders.process, journal),
  journal,
  register,
};
const clients = Array.from({ length: orders.traffic.clientsPerWorker }, (_, place) => {
  const name = `${orders.process}.${place}`;
  return new Client(name, tools, orders.traffic, new Random(`${orders.seed}/${name}`));
});
const traffic = tools.locks.onModuleInit().then(() => Promise.all(clients.map((client) => client.run())));
tell({ report: 'ready' });

// The conductor ended early, so no message will stop this process.
const onOrphaned = () => process.exit(1);
process.on('disconnect', onOrphaned);
process.on('message', (order: Order) => void obey(order));

async function obey(order: Order): Promise<void> {
  switch (order.order) {
    case 'stall':
      return stall(order.ms);
    case 'answer':
      return register.answered(order.write, order.accepted);
    case 'finish':
      clients.forEach((client) => client.finish());
      await traffic;
      await runFinalRound(tools, keysOf(orders.traffic), orders.finalLimitMs);
      return tell({ report: 'finished' });
    case 'close':
      tools.locks.beforeApplicationShutdown();
      await tools.locks.onApplicationShutdown();
      process.off('disconnect', onOrphaned);
      // From here on, anything that keeps this process running was left behind.
      return process.disconnect();
  }
}

/** Stalls like a long garbage collection or computation. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function openLocks(): LockService {
  return new LockService(withDefect(orders.lock, openBackend()), {
    connectionName: 'default',
    waitMs: 10_000,
    drainTimeoutMs: 1_000,
    connectOnStart: 'background',
    ...new Random(`${orders.seed}/${orders.process}/sharing`).pick(orders.traffic.sharings),
  });
}

function openBackend(): LockBackend {
  const { backend, connectString, basePath, sessionTimeoutMs } = orders;
  const options = { basePath, sessionTimeoutMs, connectTimeoutMs: 3_000, releaseTimeoutMs: 1_000 };
  switch (backend) {
    case 'zookeeper':
      return zookeeper({ connectString, ...options }).create();
    case 'redis':
      return redis({ url: `redis://${connectString}`, ...options }).create();
    case 'etcd':
      return etcd({ hosts: connectString, ...options }).create();
  }
}
