import type { ConnectionOptions } from 'node:tls';
import { check, checkFields, checkMs, describe } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import { DEFAULT_PORT, nodesOf } from './client/redis-client.js';
import type {
  RedisAddress,
  RedisClient,
  RedisClusterClient,
  RedisNode,
  RedisSentinel,
  RedisSentinels,
} from './client/redis-client.js';

export type { RedisClient, RedisClusterClient, RedisSentinel, RedisSentinels };

/** The address of one node of a cluster. */
export interface RedisClusterNode {
  /** Its host. */
  readonly host: string;
  /** Its port. Default 6 379. */
  readonly port?: number | undefined;
}

/** The options of the Redis backend. */
export interface RedisOptions {
  /**
   * The server as a URL: `redis://user:password@host:port/db`, `rediss://…` for TLS. Default, if no other place is
   * given: the environment variable `REDIS_URL`, else `redis://localhost:6379`.
   */
  readonly url?: string | undefined;
  /**
   * A client of ioredis 5 or 6, or of iovalkey, for one server or for a cluster. It is only duplicated: the backend has
   * connections of its own, with settings of its own.
   */
  readonly connection?: RedisClient | RedisClusterClient | undefined;
  /** Some nodes of a cluster. The others are asked for at each connection. */
  readonly cluster?: readonly RedisClusterNode[] | undefined;
  /**
   * The number of parts of the keys, 1 to 128. Each has a session of its own, and in a cluster a node of its own, as far
   * as there are nodes. Keys of one set must belong to one shard: they do when they have the same text in braces. All
   * processes that share a `basePath` must have the same number. Default 1.
   */
  readonly shards?: number | undefined;
  /** The sentinels of the server, and its name there. */
  readonly sentinels?: RedisSentinels | undefined;
  /** The user name. Default: that of the URL or of the connection. */
  readonly username?: string | undefined;
  /** The password; empty for a user without one. Default: that of the URL or of the connection. */
  readonly password?: string | undefined;
  /** Whether to connect over TLS: `true`, or the options of Node's `tls.connect`. Default: as the URL says. */
  readonly tls?: boolean | ConnectionOptions | undefined;
  /**
   * The time for which the server keeps this process's locks after it last heard of it, in milliseconds, 1 000 or more.
   * All processes that share a `basePath` should have the same. Default 10 000.
   */
  readonly sessionTimeoutMs?: number | undefined;
  /** The time to look for a server before an acquisition rejects with `LockUnavailableError`, in ms. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * The time that `release()` waits for its reply before it continues in the background, in milliseconds.
   * Default 900.
   */
  readonly releaseTimeoutMs?: number | undefined;
  /** The name that all keys on the server begin with, in braces. Default `locks`. */
  readonly basePath?: string | undefined;
  /**
   * The time for which a server that was restarted or promoted grants no free key, in milliseconds: it may have lost the
   * record of a lease that is still held. Holders keep their keys meanwhile, and hand them over. Less than the session
   * timeout is right only for tests, and for a single server with `appendfsync always`. Default: `sessionTimeoutMs`.
   */
  readonly restartDelayMs?: number | undefined;
  /**
   * Whether to accept a server that removes any key when its memory is full (`maxmemory-policy allkeys-*`). It may then
   * remove the record of a held lock, so that two processes hold it. Default `false`.
   */
  readonly allowEviction?: boolean | undefined;
  /**
   * Whether a key that begins with a slash is a lock as other libraries write it: for `/mutex:orders`, the server's key
   * `mutex:orders` with a random value and an expiry. It needs `line: 'none'`. Without this option such keys are refused.
   * Default `false`.
   */
  readonly plainLocks?: boolean | undefined;
}

export interface ResolvedRedisOptions extends Required<
  Pick<
    RedisOptions,
    | 'sessionTimeoutMs'
    | 'connectTimeoutMs'
    | 'releaseTimeoutMs'
    | 'basePath'
    | 'shards'
    | 'restartDelayMs'
    | 'allowEviction'
    | 'plainLocks'
  >
> {
  readonly address: RedisAddress;
}

const DEFAULTS = Object.freeze({
  sessionTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  releaseTimeoutMs: 900,
  basePath: 'locks',
  shards: 1,
} as const);

const ENVIRONMENT = 'REDIS_URL';
const DEFAULT_URL = 'redis://localhost:6379';
const PLACES = ['url', 'connection', 'sentinels', 'cluster'] as const;
const MOST_SHARDS = 128;
const LAST_PORT = 65_535;
const ACCESS = ['username', 'password', 'tls'] as const;
const FIELDS = [...PLACES, ...ACCESS, ...Object.keys(DEFAULTS), 'restartDelayMs', 'allowEviction', 'plainLocks'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveRedisOptions(options: RedisOptions): ResolvedRedisOptions {
  checkFields('redis() options', options, FIELDS);
  const {
    sessionTimeoutMs = DEFAULTS.sessionTimeoutMs,
    connectTimeoutMs = DEFAULTS.connectTimeoutMs,
    releaseTimeoutMs = DEFAULTS.releaseTimeoutMs,
    basePath = DEFAULTS.basePath,
    shards = DEFAULTS.shards,
    restartDelayMs = sessionTimeoutMs,
    allowEviction = false,
    plainLocks = false,
  } = options;
  checkMs('sessionTimeoutMs', sessionTimeoutMs, 1_000, 2 ** 31 - 1);
  checkMs('connectTimeoutMs', connectTimeoutMs, 1);
  checkMs('releaseTimeoutMs', releaseTimeoutMs, 0);
  checkMs('restartDelayMs', restartDelayMs, 0, 2 ** 31 - 1);
  checkBasePath(basePath);
  check(isWhole(shards, MOST_SHARDS), 'shards', shards, `a whole number from 1 to ${MOST_SHARDS}`);
  check(typeof plainLocks === 'boolean', 'plainLocks', plainLocks, 'true or false');
  check(typeof allowEviction === 'boolean', 'allowEviction', allowEviction, 'true or false');
  const times = { sessionTimeoutMs: Math.round(sessionTimeoutMs), restartDelayMs: Math.round(restartDelayMs) };
  const flags = { allowEviction, plainLocks };
  const address = addressOf(options);
  if (plainLocks && address.cluster) {
    throw new LockConfigurationError(
      'redis() options: plainLocks needs one server, since such a lock and its session are keys of different nodes: ' +
        'leave out plainLocks, or the cluster',
    );
  }
  return { ...times, ...flags, connectTimeoutMs, releaseTimeoutMs, basePath, shards, address };
}

function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= most;
}

function checkBasePath(basePath: unknown): asserts basePath is string {
  const isPath = typeof basePath === 'string' && /^[^{}\s\u0000-\u001f\u007f]+$/.test(basePath);
  check(isPath, 'basePath', basePath, 'a string without braces and spaces, that is not empty');
}

function addressOf(options: RedisOptions): RedisAddress {
  const given = PLACES.filter((field) => options[field] !== undefined);
  if (given.length > 1) {
    throw new LockConfigurationError(
      `redis() options: give one of ${given.join(' and ')}, they name different servers`,
    );
  }
  const { username, password, tls, connection, sentinels, cluster } = options;
  checkCredentials('', username, password);
  const access = { username, password, tls: tlsOf(tls) };
  if (connection !== undefined) return { ...access, ...connectionOf(connection) };
  if (cluster !== undefined) return { ...access, cluster: checkCluster(cluster) };
  if (sentinels !== undefined) return { ...access, sentinels: checkSentinels(sentinels) };
  const [field, url] = options.url === undefined ? [ENVIRONMENT, process.env[ENVIRONMENT]] : ['url', options.url];
  return { ...access, url: checkUrl(field, url ?? DEFAULT_URL) };
}

/** @param of the option that they belong to, with a dot; '' for those of the server */
function checkCredentials(of: string, username: unknown, password: unknown): void {
  for (const [field, value] of Object.entries({ username, password })) {
    // A secret, or next to one: the message contains only its type.
    const isEmpty = value === '' && !(field === 'password' && username !== undefined);
    const isText = value === undefined || (typeof value === 'string' && !isEmpty);
    if (!isText)
      throw new LockConfigurationError(`${of}${field} must be a string that is not empty, got ${typeof value}`);
  }
}

function tlsOf(tls: unknown, field = 'tls'): ConnectionOptions | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  check(typeof tls === 'object' && tls !== null && !Array.isArray(tls), field, tls, 'true, false or TLS options');
  return tls;
}

/** The message does not contain the URL, which may contain a password. */
function checkUrl(field: string, url: unknown): string {
  const isUrl = typeof url === 'string' && /^rediss?:\/\/./.test(url) && URL.canParse(url);
  if (isUrl) return url;
  throw new LockConfigurationError(
    `${field} must be a URL such as "redis://localhost:6379" or "rediss://user:password@host:6380/0"`,
  );
}

function connectionOf(connection: RedisClient | RedisClusterClient): RedisAddress {
  const isObject = typeof connection === 'object' && connection !== null;
  if (isObject && 'nodes' in connection && typeof connection.nodes === 'function') {
    const cluster = nodesOf(connection);
    if (cluster.length > 0) return { clusterClient: connection, cluster };
    throw new LockConfigurationError('connection: the client of a cluster was given no node that has a host');
  }
  const isClient = isObject && 'duplicate' in connection && typeof connection.duplicate === 'function';
  check(isClient, 'connection', connection, 'a client of ioredis or iovalkey');
  return { connection };
}

function checkCluster(given: unknown): readonly RedisNode[] {
  const isList = Array.isArray(given) && given.length > 0;
  check(isList, 'cluster', given, 'a list of { host, port }, not empty');
  return (given as unknown[]).map((node) => {
    checkFields('cluster', node, ['host', 'port']);
    const { host, port = DEFAULT_PORT } = node as Partial<RedisNode>;
    check(typeof host === 'string' && host !== '', 'cluster.host', host, 'a string that is not empty');
    check(isWhole(port, LAST_PORT), 'cluster.port', port, `a whole number from 1 to ${LAST_PORT}`);
    return { host, port };
  });
}

function checkSentinels(given: unknown): RedisSentinels {
  checkFields('sentinels', given, ['sentinels', 'name', ...ACCESS]);
  const { sentinels, name, username, password, tls } = given as Partial<RedisSentinels>;
  check(typeof name === 'string' && name !== '', 'sentinels.name', name, 'the name of the primary, such as "mymaster"');
  const isList = Array.isArray(sentinels) && sentinels.length > 0;
  check(isList, 'sentinels.sentinels', sentinels, 'a list of { host, port }, not empty');
  for (const sentinel of sentinels as unknown[]) {
    const { host } = (sentinel ?? {}) as { host?: unknown };
    if (typeof host === 'string' && host !== '') continue;
    throw new LockConfigurationError(`sentinels.sentinels must be a list of { host, port }, got ${describe(sentinel)}`);
  }
  checkCredentials('sentinels.', username, password);
  const access = { username, password, tls: tlsOf(tls, 'sentinels.tls') };
  return { sentinels: sentinels as RedisSentinels['sentinels'], name, ...access };
}

/** The server for messages, without user and password. */
export function serverText({ url, sentinels, cluster }: RedisAddress): string {
  if (cluster) return `the cluster of ${cluster.map(({ host, port }) => `${host}:${port}`).join(',')}`;
  if (sentinels)
    return `"${sentinels.name}" of ${sentinels.sentinels.map(({ host, port = 26_379 }) => `${host}:${port}`).join(',')}`;
  return url === undefined ? 'the given connection' : new URL(url).host;
}
