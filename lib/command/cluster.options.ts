import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import type { RedisClusterNode, RedisSentinels } from '../redis/index.js';
import { durationOf } from './command-io.js';
import type { CommandIo } from './command-io.js';

export type BackendName = 'zookeeper' | 'redis' | 'etcd';

/** A certificate that a server asks for, and its private key, in PEM format. */
export interface ClientCertificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The options of all commands that ask a cluster, with their defaults filled in. */
export interface ClusterOptions {
  readonly backend: BackendName;
  /** The servers, as the backend takes them. Default: what the backend takes without an option. */
  readonly connect: string | undefined;
  /** Some nodes of a cluster of Redis, instead of `connect`. */
  readonly cluster: readonly RedisClusterNode[] | undefined;
  /** The sentinels of a Redis server, instead of `connect`. */
  readonly sentinels: RedisSentinels | undefined;
  /** The number of shards of `redis()` in the application. */
  readonly shards: number | undefined;
  readonly basePath: string | undefined;
  readonly service: string | undefined;
  /** Whether to connect over TLS, with a certificate where the servers ask for one. */
  readonly tls: boolean | ClientCertificate;
  readonly isJson: boolean;
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly mostKeys: number;
  readonly withinMs: number;
  readonly everyMs: number;
  readonly graceMs: number;
  readonly isConfirmed: boolean;
  /** The credentials of the environment. */
  readonly user: string | undefined;
  readonly password: string | undefined;
}

const OPTIONS = {
  backend: { type: 'string' },
  connect: { type: 'string' },
  cluster: { type: 'string' },
  sentinels: { type: 'string' },
  'sentinel-name': { type: 'string' },
  shards: { type: 'string' },
  'base-path': { type: 'string' },
  service: { type: 'string' },
  tls: { type: 'boolean' },
  cert: { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  'session-timeout': { type: 'string' },
  timeout: { type: 'string' },
  most: { type: 'string' },
  within: { type: 'string' },
  every: { type: 'string' },
  grace: { type: 'string' },
  yes: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

const DEFAULTS = { 'session-timeout': '10s', timeout: '5s', most: '200', within: '2s', every: '1s', grace: '10s' };

const SECRETS = /^--?(?:p|pass|password|passwd|auth|user|username|token|secret|credentials)(?:=|$)/i;
/** User information before the host of a URL. */
const IN_URL = /^(?:--(?:connect|cluster|sentinels)=)?[a-z+]+:\/\/[^/@]*@/i;

const PLACES = ['connect', 'cluster', 'sentinels'] as const;
const OF_REDIS = ['cluster', 'sentinels', 'sentinel-name', 'shards'] as const;
const MOST_SHARDS = 128;
const LAST_PORT = 65_535;

const VARIABLES = {
  zookeeper: ['ZOOKEEPER_USER', 'ZOOKEEPER_PASSWORD'],
  redis: ['REDIS_USERNAME', 'REDIS_PASSWORD'],
  etcd: ['ETCD_USERNAME', 'ETCD_PASSWORD'],
} as const;

/**
 * Parses the arguments of a command. Credentials are taken from the environment alone.
 * @throws Error that says what is wrong, and never repeats a credential
 */
export function parseClusterArguments(
  args: readonly string[],
  env: CommandIo['env'],
): { readonly options: ClusterOptions; readonly words: readonly string[] } {
  refuseCredentials(args);
  const { values, positionals } = parsed(args);
  const duration = (name: keyof typeof DEFAULTS) => durationOf(`--${name}`, values[name] ?? DEFAULTS[name]);
  const backend = backendOf(values.backend ?? 'zookeeper');
  const redis = redisOptionsOf(backend, values);
  const url = redis.cluster || redis.sentinels ? undefined : (values.connect ?? env.REDIS_URL);
  const { user, password } = credentialsOf(backend, env, url);
  if (!/^[1-9]\d{0,4}$/.test(values.most ?? DEFAULTS.most))
    throw new Error('--most must be a whole number from 1 to 10000');
  const options = {
    backend,
    connect: values.connect,
    ...redis,
    basePath: values['base-path'],
    service: values.service,
    tls: tlsOf(values),
    isJson: values.json ?? false,
    sessionTimeoutMs: duration('session-timeout'),
    connectTimeoutMs: duration('timeout'),
    mostKeys: Number(values.most ?? DEFAULTS.most),
    withinMs: duration('within'),
    everyMs: duration('every'),
    graceMs: duration('grace'),
    isConfirmed: values.yes ?? false,
    user,
    password,
  };
  return { options, words: positionals };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // Node writes some of these messages in several lines.
    throw new Error((error as Error).message.replaceAll(/\s*\n\s*/g, ' '), { cause: error });
  }
}

function backendOf(name: string): BackendName {
  if (name === 'zookeeper' || name === 'redis' || name === 'etcd') return name;
  throw new Error(`--backend must be zookeeper, redis or etcd, got "${name}"`);
}

/** @throws Error for options that belong to another backend, exclude each other, or are not complete */
function redisOptionsOf(
  backend: BackendName,
  values: ReturnType<typeof parsed>['values'],
): Pick<ClusterOptions, 'cluster' | 'sentinels' | 'shards'> {
  const [foreign] = OF_REDIS.filter((name) => backend !== 'redis' && values[name] !== undefined);
  if (foreign !== undefined) throw new Error(`--${foreign} needs --backend redis`);
  const places = PLACES.filter((name) => values[name] !== undefined).map((name) => `--${name}`);
  if (places.length > 1) throw new Error(`give one of ${places.join(' and ')}: they name different servers`);
  const { cluster, sentinels, shards, 'sentinel-name': name } = values;
  if (shards !== undefined && !(/^[1-9]\d*$/.test(shards) && Number(shards) <= MOST_SHARDS))
    throw new Error(`--shards must be a whole number from 1 to ${MOST_SHARDS}`);
  if (sentinels !== undefined && !name)
    throw new Error('--sentinels needs --sentinel-name, the name of the primary, such as mymaster');
  if (sentinels === undefined && name !== undefined) throw new Error('--sentinel-name needs --sentinels');
  return {
    cluster: cluster === undefined ? undefined : addressesOf('--cluster', cluster),
    sentinels:
      sentinels === undefined ? undefined : { name: name ?? '', sentinels: addressesOf('--sentinels', sentinels) },
    shards: shards === undefined ? undefined : Number(shards),
  };
}

/** @throws Error that does not repeat the text: it may contain a credential */
function addressesOf(option: string, text: string): readonly RedisClusterNode[] {
  return text.split(',').map((address) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:@/\s]+))(?::(\d{1,5}))?$/.exec(address.trim()) ?? [];
    const host = bracketed ?? plain;
    if (host === undefined || (port !== undefined && !(Number(port) >= 1 && Number(port) <= LAST_PORT)))
      throw new Error(`${option} must be a list such as redis-1:7000,redis-2:7000, of hosts and their ports`);
    return port === undefined ? { host } : { host, port: Number(port) };
  });
}

function tlsOf({
  tls = false,
  cert,
  key,
}: {
  readonly tls?: boolean;
  readonly cert?: string;
  readonly key?: string;
}): ClusterOptions['tls'] {
  if (cert === undefined && key === undefined) return tls;
  if (cert === undefined || key === undefined) throw new Error('give both --cert and --key, or neither');
  if (!tls) throw new Error('--cert and --key need --tls: without it, no certificate is sent');
  return { cert: fileOf('--cert', cert), key: fileOf('--key', key) };
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${option} must be a file that can be read: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * Returns the credentials of the environment. A backend would go without half of them, as another user.
 * @param connect the servers @throws Error that names the variable that is not set
 */
function credentialsOf(
  backend: BackendName,
  env: CommandIo['env'],
  connect = '',
): Pick<ClusterOptions, 'user' | 'password'> {
  const names = VARIABLES[backend];
  // Scripts set a variable to nothing where they mean none.
  const [user, given] = names.map((name) => env[name] || undefined);
  const isRedis = backend === 'redis';
  // The other half may stand in the URL.
  const isInUrl = isRedis && IN_URL.test(connect);
  // Redis has a user by default, and users without a password.
  const password = isRedis && !isInUrl && user !== undefined ? env.REDIS_PASSWORD : given;
  const isWhole = isInUrl || (isRedis && user === undefined);
  if (isWhole || (user === undefined) === (password === undefined)) return { user, password };
  const [set, missing] = user === undefined ? names.toReversed() : names;
  throw new Error(`${set} is set, and ${missing} is not: set both, or neither`);
}

function refuseCredentials(args: readonly string[]): void {
  if (!args.some((arg) => SECRETS.test(arg) || IN_URL.test(arg))) return;
  const names = Object.values(VARIABLES).flat().join(', ');
  throw new Error(
    'credentials are not taken as arguments: other users of this machine can see them, and shells keep them. ' +
      `Set the environment variables of the backend instead: ${names}; or REDIS_URL`,
  );
}
