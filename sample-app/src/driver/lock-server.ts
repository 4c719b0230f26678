import { EmbeddedServer } from './embedded-server.js';
import type { Environment } from './warm-process.js';

/** The server that grants the locks of the instances. */
export interface LockServer extends AsyncDisposable {
  /** The server, for messages. */
  readonly name: string;
  /** The environment in which the instances find it. */
  readonly env: Environment;
}

/** `embedded` is a ZooKeeper that needs only Node; `real` is Apache ZooKeeper on Java; `redis` and `etcd` are real servers. */
export type ServerKind = 'embedded' | 'real' | 'redis' | 'etcd';

/**
 * Resolves with the server that the environment names (ZOOKEEPER_CONNECT, REDIS_URL or ETCD_HOSTS), or starts one.
 * @throws Error that says what to install
 */
export async function provideServer(kind: ServerKind): Promise<LockServer> {
  if (kind === 'redis') return provideRedis();
  return kind === 'etcd' ? provideEtcd() : provideZooKeeper(kind);
}

async function provideEtcd(): Promise<LockServer> {
  const given = process.env['ETCD_HOSTS'];
  if (given) return etcdAt(given, ', by ETCD_HOSTS', async () => {});
  console.log('\nStarting etcd …');
  const { EtcdServer } = await import('nestjs-distributed-lock/testing');
  const server = await EtcdServer.start();
  return etcdAt(server.host, '', () => server.stop());
}

function etcdAt(hosts: string, by: string, stop: () => Promise<void>): LockServer {
  const name = `etcd at ${hosts}`;
  console.log(`\n${name}${by}`);
  return { name, env: { BACKEND: 'etcd', ETCD_HOSTS: hosts }, [Symbol.asyncDispose]: stop };
}

async function provideRedis(): Promise<LockServer> {
  const given = process.env['REDIS_URL'];
  if (given) return redisAt(given, ', by REDIS_URL', async () => {});
  console.log('\nStarting Redis …');
  const { RedisServer } = await import('nestjs-distributed-lock/testing');
  // The stock is in Redis: every write is on disk before it is answered.
  const server = await RedisServer.start({ settings: { appendonly: 'yes', appendfsync: 'always' } });
  const redis = redisAt(server.url, '', () => server.stop());
  // Nothing can be held on a server that is new, so it need not wait for earlier leases to end.
  return { ...redis, env: { ...redis.env, RESTART_DELAY_MS: '0' } };
}

/** @param url may contain a password, which is not printed */
function redisAt(url: string, by: string, stop: () => Promise<void>): LockServer {
  const name = `Redis at ${new URL(url).host}`;
  console.log(`\n${name}${by}`);
  return { name, env: { BACKEND: 'redis', REDIS_URL: url }, [Symbol.asyncDispose]: stop };
}

async function provideZooKeeper(kind: 'embedded' | 'real'): Promise<LockServer> {
  const given = process.env['ZOOKEEPER_CONNECT'];
  if (given) {
    console.log(`\nZooKeeper at ${given}, by ZOOKEEPER_CONNECT`);
    return zooKeeperAt(given, async () => {});
  }
  if (kind === 'real') return startReal();
  const server = await EmbeddedServer.start();
  console.log(`\n${server.banner}`);
  return zooKeeperAt(server.connectString, () => server[Symbol.asyncDispose]());
}

async function startReal(): Promise<LockServer> {
  console.log('\nStarting Apache ZooKeeper …');
  const { ZooKeeperServer } = await import('nestjs-distributed-lock/testing');
  const server = await ZooKeeperServer.start();
  return zooKeeperAt(server.connectString, () => server.stop());
}

function zooKeeperAt(connectString: string, stop: () => Promise<void>): LockServer {
  const name = `ZooKeeper at ${connectString}`;
  return { name, env: { ZOOKEEPER_CONNECT: connectString }, [Symbol.asyncDispose]: stop };
}
