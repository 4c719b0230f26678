import type { SecureContextOptions } from 'node:tls';
import { check, checkFields, checkMs } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { User } from './client/etcd-link.js';

/** The TLS options of the etcd backend: those of Node's `tls.createSecureContext`, and how a server is checked. */
export interface EtcdTlsOptions extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'pfx'> {
  /** The name to expect in the servers' certificates. Default: the host. */
  readonly servername?: string | undefined;
  /** Whether to refuse a server whose certificate cannot be verified. Default `true`. */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** The options of the etcd backend. */
export interface EtcdOptions {
  /**
   * The servers as `host:port`: a list, or a text with commas. One after the other is tried. Default: the environment
   * variable `ETCD_HOSTS`, else `localhost:2379`.
   */
  readonly hosts?: string | readonly string[] | undefined;
  /** Whether to connect over TLS: `true`, or its options, with a client certificate where servers ask for one. */
  readonly tls?: boolean | EtcdTlsOptions | undefined;
  /** The user name, for servers with authentication. Default: none. */
  readonly username?: string | undefined;
  /** The password of the user. */
  readonly password?: string | undefined;
  /**
   * The time for which the servers keep this process's locks after they last heard of it, in milliseconds: whole
   * seconds, 2 000 or more. Default 10 000.
   */
  readonly sessionTimeoutMs?: number | undefined;
  /** The time to look for a server before an acquisition rejects with `LockUnavailableError`, in ms. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * The time that `release()` waits for its reply before it continues in the background, in milliseconds.
   * Default 900.
   */
  readonly releaseTimeoutMs?: number | undefined;
  /** The beginning of all keys on the servers. Default `locks`. */
  readonly basePath?: string | undefined;
  /**
   * The clients that keys which begin with a slash are shared with. `'go'`: the key is the prefix of a mutex or an
   * election of Go's `concurrency` package, such as `/my-lock` for `NewMutex(session, "/my-lock")`, with or without a
   * slash at its end. Go's mutex excludes readers and writers. Only locks and elections have such keys: permits, queues,
   * barriers and shared values are not in that package. Of a fencing token, `token >> 16n` is the create revision, by
   * which Go tells holders apart; leases handed over within this process share it. `'own'`: such keys are refused.
   * Default `'own'`.
   */
  readonly wire?: 'own' | 'go' | undefined;
}

export interface ResolvedEtcdOptions extends Required<
  Pick<EtcdOptions, 'sessionTimeoutMs' | 'connectTimeoutMs' | 'releaseTimeoutMs' | 'basePath' | 'wire'>
> {
  readonly hosts: readonly string[];
  readonly tls: EtcdTlsOptions | undefined;
  readonly user: User | undefined;
}

const DEFAULTS = Object.freeze({
  sessionTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  releaseTimeoutMs: 900,
  basePath: 'locks',
  wire: 'own',
} as const);

const ENVIRONMENT = 'ETCD_HOSTS';
const DEFAULT_HOST = 'localhost:2379';
const SHORTEST_SESSION_MS = 2_000;
const FIELDS = ['hosts', 'tls', 'username', 'password', ...Object.keys(DEFAULTS)];
const TLS_FIELDS = ['ca', 'cert', 'key', 'passphrase', 'pfx', 'servername', 'rejectUnauthorized'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveEtcdOptions(options: EtcdOptions): ResolvedEtcdOptions {
  checkFields('etcd() options', options, FIELDS);
  const {
    sessionTimeoutMs = DEFAULTS.sessionTimeoutMs,
    connectTimeoutMs = DEFAULTS.connectTimeoutMs,
    releaseTimeoutMs = DEFAULTS.releaseTimeoutMs,
    basePath = DEFAULTS.basePath,
    wire = DEFAULTS.wire,
  } = options;
  checkMs('sessionTimeoutMs', sessionTimeoutMs, SHORTEST_SESSION_MS, 2 ** 31 - 1);
  check(
    sessionTimeoutMs % 1_000 === 0,
    'sessionTimeoutMs',
    sessionTimeoutMs,
    'a multiple of 1000: etcd counts seconds',
  );
  checkMs('connectTimeoutMs', connectTimeoutMs, 1);
  checkMs('releaseTimeoutMs', releaseTimeoutMs, 0);
  const isPath = typeof basePath === 'string' && /^[^\s\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f/]$/.test(basePath);
  check(isPath && !basePath.includes('//'), 'basePath', basePath, 'a text without spaces, as in "shop/locks"');
  check(wire === 'own' || wire === 'go', 'wire', wire, '"own" or "go"');
  const times = { sessionTimeoutMs, connectTimeoutMs, releaseTimeoutMs };
  return { ...times, basePath, wire, hosts: hostsOf(options.hosts), tls: tlsOf(options.tls), user: userOf(options) };
}

function hostsOf(given: unknown): readonly string[] {
  const [field, hosts] =
    given === undefined ? [ENVIRONMENT, process.env[ENVIRONMENT] ?? DEFAULT_HOST] : ['hosts', given];
  const list: unknown = typeof hosts === 'string' ? hosts.split(',') : hosts;
  check(Array.isArray(list) && list.length > 0, field, given, 'a list of "host:port"');
  return list.map((host: unknown) => {
    const text = typeof host === 'string' ? host.trim() : host;
    const isHost = typeof text === 'string' && /^(\[[\da-fA-F:.]+\]|[\w.-]+):\d{1,5}$/.test(text);
    check(isHost, field, host, '"host:port", without "http://"');
    return text as string;
  });
}

function tlsOf(tls: unknown): EtcdTlsOptions | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  checkFields('tls options', tls, TLS_FIELDS, 'tls', 'true, false or TLS options');
  return tls as EtcdTlsOptions;
}

function userOf({ username, password }: EtcdOptions): User | undefined {
  for (const [field, value] of Object.entries({ username, password })) {
    // A secret, or next to one: the message contains only its type.
    const isText = value === undefined || (typeof value === 'string' && value !== '');
    if (!isText) throw new LockConfigurationError(`${field} must be a string that is not empty, got ${typeof value}`);
  }
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined || password === undefined) {
    throw new LockConfigurationError('etcd() options: give both username and password, or neither');
  }
  return { username, password };
}
