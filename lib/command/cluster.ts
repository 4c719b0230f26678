import type { LockBackend, LockBackendDefinition } from '../contract/lock-backend.js';
import { etcd } from '../etcd/index.js';
import { redisObserver } from '../redis/redis.backend.js';
import { CronRunsService } from '../schedule/cron-runs.service.js';
import { LockService } from '../service/lock.service.js';
import { zookeeper } from '../zookeeper/zookeeper.backend.js';
import type { ClusterOptions } from './cluster.options.js';

/** A connection to a cluster, for one command. */
export interface Cluster {
  readonly backend: LockBackend;
  readonly locks: LockService;
  readonly runs: CronRunsService;
  /** The lines that the backend has logged. */
  readonly lines: { readonly log: string[]; readonly warn: string[] };
}

/**
 * Connects, runs the work, and closes.
 * @throws LockUnavailableError, LockConfigurationError, what the work throws
 */
export async function onCluster<T>(options: ClusterOptions, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const { service } = options;
  const backend = definitionOf(options).create();
  const settings = {
    connectionName: 'default',
    service,
    waitMs: 0,
    drainTimeoutMs: 0,
    connectOnStart: 'background',
  } as const;
  const locks = new LockService(backend, settings);
  const lines: Cluster['lines'] = { log: [], warn: [] };
  backend.logTo?.({ log: (line) => lines.log.push(line), warn: (line) => lines.warn.push(line) });
  // No job fires in this process.
  const runs = new CronRunsService(locks, { followingOf: () => () => Infinity });
  try {
    await backend.connect();
    return await work({ backend, locks, runs, lines });
  } finally {
    runs.onModuleDestroy();
    locks.beforeApplicationShutdown();
    await locks.onApplicationShutdown();
  }
}

function definitionOf(options: ClusterOptions): LockBackendDefinition {
  const { backend, connect, basePath, sessionTimeoutMs, connectTimeoutMs, user, password } = options;
  const common = { basePath, sessionTimeoutMs, connectTimeoutMs };
  if (backend === 'redis') {
    return redisObserver({
      ...common,
      url: connect,
      cluster: options.cluster,
      sentinels: options.sentinels,
      shards: options.shards,
      username: user,
      password,
      ...(options.tls !== false && { tls: options.tls }),
    });
  }
  if (backend === 'etcd') {
    return etcd({ ...common, hosts: connect, username: user, password, tls: options.tls });
  }
  const auth = user === undefined ? undefined : { scheme: 'digest', credentials: `${user}:${password ?? ''}` };
  return zookeeper({ ...common, connectString: connect, auth, tls: options.tls });
}
