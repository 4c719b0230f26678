import { check, checkFields, checkMs } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import { parseConnectString } from './client/connect-string.js';
import type { ConnectString } from './client/connect-string.js';
import type { TlsOptions } from './client/dialer.js';
import { checkRoot } from './recipes/znode-path.js';
import { resolveAcl, resolveAuth, resolveTls } from './access.options.js';
import type { ZooKeeperAcl, ZooKeeperAuth, ZooKeeperTls } from './access.options.js';

export type { ZooKeeperAcl, ZooKeeperAuth, ZooKeeperTls };

/** The options of the ZooKeeper backend. */
export interface ZooKeeperOptions {
  /**
   * The servers and an optional chroot: `host:port,host:port/chroot`, with IPv6 addresses in brackets. Default: the
   * environment variable `ZOOKEEPER_CONNECT`, else `localhost:2181`.
   */
  readonly connectString?: string | undefined;
  /**
   * The time for which the servers keep this session's locks after they last heard of it, in milliseconds. The servers
   * clamp it to 2 to 20 of their ticks. A longer timeout survives longer outages, a shorter one frees the locks of a
   * dead process sooner. Default 10 000.
   */
  readonly sessionTimeoutMs?: number | undefined;
  /** The time to look for a server before an acquisition rejects with `LockUnavailableError`, in ms. Default 10 000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * The time that `release()` waits for its reply before it continues in the background, in milliseconds.
   * Default 900: a caller waits for less than a second, whatever the network does.
   */
  readonly releaseTimeoutMs?: number | undefined;
  /** The path below which keys without a leading slash are placed. Default `/locks`. */
  readonly basePath?: string | undefined;
  /** Credentials that the session sends to the servers. Default: none. */
  readonly auth?: ZooKeeperAuth | readonly ZooKeeperAuth[] | undefined;
  /**
   * The access list of the znodes: all clients (`'open'`), the session's own identities (`'creator'`), or a list.
   * Default: `'creator'` if `auth` is given, else `'open'`.
   */
  readonly acl?: 'open' | 'creator' | readonly ZooKeeperAcl[] | undefined;
  /**
   * Whether to connect over TLS (the servers' `secureClientPort`). Either `true`, or the certificate options of Node's
   * `tls.connect`: `ca`, `cert` and `key` or `pfx` for client certificates, `servername`, `rejectUnauthorized`, …
   * Give the material itself, not the names of files. Default: no TLS.
   */
  readonly tls?: boolean | ZooKeeperTls | undefined;
  /**
   * Whether the servers remove a key's directory once it is empty (`'container'`, the default) or keep it
   * (`'persistent'`).
   */
  readonly parents?: 'container' | 'persistent' | undefined;
}

export interface ResolvedZooKeeperOptions extends Required<
  Omit<ZooKeeperOptions, 'connectString' | 'auth' | 'acl' | 'tls'>
> {
  readonly connect: ConnectString;
  readonly auth: readonly ZooKeeperAuth[];
  readonly acl: readonly ZooKeeperAcl[];
  readonly tls: TlsOptions | undefined;
}

export const DEFAULTS = Object.freeze({
  sessionTimeoutMs: 10_000,
  connectTimeoutMs: 10_000,
  releaseTimeoutMs: 900,
  basePath: '/locks',
  parents: 'container',
} as const);

const DEFAULT_CONNECT_STRING = 'localhost:2181';
const ENVIRONMENT = 'ZOOKEEPER_CONNECT';
const FIELDS = [...Object.keys(DEFAULTS), 'connectString', 'auth', 'acl', 'tls'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveZooKeeperOptions(options: ZooKeeperOptions): ResolvedZooKeeperOptions {
  checkFields('zookeeper() options', options, FIELDS);
  const {
    sessionTimeoutMs = DEFAULTS.sessionTimeoutMs,
    connectTimeoutMs = DEFAULTS.connectTimeoutMs,
    releaseTimeoutMs = DEFAULTS.releaseTimeoutMs,
    basePath = DEFAULTS.basePath,
    parents = DEFAULTS.parents,
  } = options;
  checkMs('sessionTimeoutMs', sessionTimeoutMs, 100, 2 ** 31 - 1);
  checkMs('connectTimeoutMs', connectTimeoutMs, 1);
  checkMs('releaseTimeoutMs', releaseTimeoutMs, 0);
  check(parents === 'container' || parents === 'persistent', 'parents', parents, "'container' or 'persistent'");
  const auth = resolveAuth(options.auth);
  return {
    connect: connectOf(options),
    sessionTimeoutMs,
    connectTimeoutMs,
    releaseTimeoutMs,
    basePath: resolveBasePath(basePath),
    parents,
    auth,
    acl: resolveAcl(options.acl, auth),
    tls: resolveTls(options.tls),
  };
}

function connectOf({ connectString }: ZooKeeperOptions): ConnectString {
  if (connectString !== undefined) return resolveConnectString('connectString', connectString);
  return resolveConnectString(ENVIRONMENT, process.env[ENVIRONMENT] ?? DEFAULT_CONNECT_STRING);
}

/** @param field the name of the option or environment variable, for messages */
function resolveConnectString(field: string, connectString: unknown): ConnectString {
  const expected = 'a string such as "zk1:2181,zk2:2181/app"';
  check(typeof connectString === 'string' && connectString !== '', field, connectString, expected);
  try {
    const connect = parseConnectString(connectString);
    if (connect.chroot !== '') checkRoot(connect.chroot);
    return connect;
  } catch (cause) {
    throw new LockConfigurationError(`${field}: ${(cause as Error).message}`, { cause });
  }
}

function resolveBasePath(basePath: unknown): string {
  check(
    typeof basePath === 'string' && basePath.startsWith('/'),
    'basePath',
    basePath,
    'a path that begins with a slash',
  );
  if (basePath === '/') return '';
  check(!basePath.endsWith('/'), 'basePath', basePath, `a path without a slash at its end, "${trimmed(basePath)}"`);
  try {
    checkRoot(basePath);
    return basePath;
  } catch (cause) {
    throw new LockConfigurationError(`basePath: ${(cause as Error).message}`, { cause });
  }
}

function trimmed(path: string): string {
  return path.replace(/\/+$/, '') || '/';
}
