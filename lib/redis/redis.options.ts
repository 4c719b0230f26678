import type { ConnectionOptions } from 'node:tls';
import { check, checkFields, checkMs, describe } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { RedisAddress, RedisClient, RedisSentinel, RedisSentinels } from './client/redis-client.js';

export type { RedisClient, RedisSentinel, RedisSentinels };

/** The options of the Redis backend. */
export interface RedisOptions {
  /**
   * The server as a URL: `redis://user:password@host:port/db`, `rediss://…` for TLS. Default, if neither `connection` nor
   * `sentinels` is given: the environment variable `REDIS_URL`, else `redis://localhost:6379`.
   */
  readonly url?: string | undefined;
  /**
   * A client of ioredis 5 or 6, or of iovalkey. It is only duplicated: the backend has connections of its own, with
   * settings of its own.
   */
  readonly connection?: RedisClient | undefined;
  /** The sentinels of the server, and its name there. */
  readonly sentinels?: RedisSentinels | undefined;
  /** The user name. Default: that of the URL or of the connection. */
  readonly username?: string | undefined;
  /** The password. Default: that of the URL or of the connection. */
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
} as const);

const ENVIRONMENT = 'REDIS_URL';
const DEFAULT_URL = 'redis://localhost:6379';
const PLACES = ['url', 'connection', 'sentinels'] as const;
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
    restartDelayMs = sessionTimeoutMs,
    allowEviction = false,
    plainLocks = false,
  } = options;
  checkMs('sessionTimeoutMs', sessionTimeoutMs, 1_000, 2 ** 31 - 1);
  checkMs('connectTimeoutMs', connectTimeoutMs, 1);
  checkMs('releaseTimeoutMs', releaseTimeoutMs, 0);
  checkMs('restartDelayMs', restartDelayMs, 0, 2 ** 31 - 1);
  checkBasePath(basePath);
  check(typeof plainLocks === 'boolean', 'plainLocks', plainLocks, 'true or false');
  check(typeof allowEviction === 'boolean', 'allowEviction', allowEviction, 'true or false');
  const times = { sessionTimeoutMs: Math.round(sessionTimeoutMs), restartDelayMs: Math.round(restartDelayMs) };
  const flags = { allowEviction, plainLocks };
  return { ...times, ...flags, connectTimeoutMs, releaseTimeoutMs, basePath, address: addressOf(options) };
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
  const { username, password, tls, connection, sentinels } = options;
  for (const [field, value] of Object.entries({ username, password })) {
    // A secret, or next to one: the message contains only its type.
    const isText = value === undefined || (typeof value === 'string' && value !== '');
    if (!isText) throw new LockConfigurationError(`${field} must be a string that is not empty, got ${typeof value}`);
  }
  const access = { username, password, tls: tlsOf(tls) };
  if (connection !== undefined) return { ...access, connection: checkConnection(connection) };
  if (sentinels !== undefined) return { ...access, sentinels: checkSentinels(sentinels) };
  const [field, url] = options.url === undefined ? [ENVIRONMENT, process.env[ENVIRONMENT]] : ['url', options.url];
  return { ...access, url: checkUrl(field, url ?? DEFAULT_URL) };
}

function tlsOf(tls: unknown): ConnectionOptions | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  check(typeof tls === 'object' && tls !== null && !Array.isArray(tls), 'tls', tls, 'true, false or TLS options');
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

function checkConnection(connection: RedisClient): RedisClient {
  const isClient = typeof connection === 'object' && connection !== null && typeof connection.duplicate === 'function';
  check(isClient, 'connection', connection, 'a client of ioredis or iovalkey');
  if ('nodes' in connection) {
    throw new LockConfigurationError('connection must be a client of one server, got a client of a cluster');
  }
  return connection;
}

function checkSentinels(given: unknown): RedisSentinels {
  checkFields('sentinels', given, ['sentinels', 'name']);
  const { sentinels, name } = given as Partial<RedisSentinels>;
  check(typeof name === 'string' && name !== '', 'sentinels.name', name, 'the name of the primary, such as "mymaster"');
  const isList = Array.isArray(sentinels) && sentinels.length > 0;
  check(isList, 'sentinels.sentinels', sentinels, 'a list of { host, port }, not empty');
  for (const sentinel of sentinels as unknown[]) {
    const { host } = (sentinel ?? {}) as { host?: unknown };
    if (typeof host === 'string' && host !== '') continue;
    throw new LockConfigurationError(`sentinels.sentinels must be a list of { host, port }, got ${describe(sentinel)}`);
  }
  return { sentinels: sentinels as RedisSentinels['sentinels'], name };
}

/** The server for messages, without user and password. */
export function serverText({ url, sentinels }: RedisAddress): string {
  if (sentinels)
    return `"${sentinels.name}" of ${sentinels.sentinels.map(({ host, port = 26_379 }) => `${host}:${port}`).join(',')}`;
  return url === undefined ? 'the given connection' : new URL(url).host;
}
