import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { durationOf } from './command-io.js';
import type { CommandIo } from './command-io.js';

export type BackendName = 'zookeeper' | 'redis' | 'etcd';

/** The options of all commands that ask a cluster, with their defaults filled in. */
export interface ClusterOptions {
  readonly backend: BackendName;
  /** The servers, as the backend takes them. Default: what the backend takes without an option. */
  readonly connect: string | undefined;
  readonly basePath: string | undefined;
  readonly service: string | undefined;
  readonly tls: boolean;
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
  'base-path': { type: 'string' },
  service: { type: 'string' },
  tls: { type: 'boolean' },
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
const IN_URL = /^(?:--connect=)?[a-z+]+:\/\/[^/@]*@/i;

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
  const { user, password } = credentialsOf(backend, env);
  if (!/^[1-9]\d{0,4}$/.test(values.most ?? DEFAULTS.most))
    throw new Error('--most must be a whole number from 1 to 10000');
  const options = {
    backend,
    connect: values.connect,
    basePath: values['base-path'],
    service: values.service,
    tls: values.tls ?? false,
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

/**
 * Returns the credentials of the environment. A backend would go without half of them, as another user.
 * @throws Error that names the variable that is not set
 */
function credentialsOf(backend: BackendName, env: CommandIo['env']): Pick<ClusterOptions, 'user' | 'password'> {
  const names = VARIABLES[backend];
  // Scripts set a variable to nothing where they mean none.
  const [user, password] = names.map((name) => env[name] || undefined);
  // Redis has a user by default. The other half may stand in the URL.
  const isWhole = backend === 'redis' && (user === undefined || IN_URL.test(env.REDIS_URL ?? ''));
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
