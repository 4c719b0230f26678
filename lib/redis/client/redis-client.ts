import { createRequire } from 'node:module';
import { isIPv6 } from 'node:net';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { LockConfigurationError } from '../../contract/errors.js';

/**
 * The part of an ioredis client that is used here, the same in ioredis 5 and 6 and in iovalkey. Names and types are
 * theirs.
 */
export interface RedisClient {
  /** The socket, while there is a connection. */
  readonly stream?: Socket;
  /** Opens the connection. */
  connect(): Promise<void>;
  /** Closes the connection at once. */
  disconnect(): void;
  /** Sends a command. Replies are text. */
  call(command: string, values: (string | number | Buffer)[]): Promise<unknown>;
  /** Sends a command. Replies are bytes. */
  callBuffer(command: string, values: (string | number | Buffer)[]): Promise<unknown>;
  /** Subscribes to channels. */
  subscribe(...channels: string[]): Promise<unknown>;
  /** Ends subscriptions. */
  unsubscribe(...channels: string[]): Promise<unknown>;
  /** Adds a listener. */
  on(event: string, listener: (...values: never[]) => void): unknown;
  /** Returns a client with the same settings, or others, that is not connected. */
  duplicate(override?: object): RedisClient;
}

/** The address of one sentinel. */
export interface RedisSentinel {
  /** Its host. */
  readonly host: string;
  /** Its port. Default 26 379. */
  readonly port?: number | undefined;
}

/** A client of a cluster, of ioredis or iovalkey. Only its settings are used. */
export interface RedisClusterClient {
  /** Returns the clients of the nodes that are connected. */
  nodes(role?: 'all'): RedisClient[];
}

/** The address of one node of a cluster, and the access to it where the node has one of its own. */
export interface RedisNode {
  /** Its host. */
  readonly host: string;
  /** Its port. */
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** `true` for TLS with the options of the client that the node was given by. */
  readonly tls?: ConnectionOptions | true | undefined;
}

/** The addresses of a server's sentinels. */
export interface RedisSentinels {
  /** The sentinels. */
  readonly sentinels: readonly RedisSentinel[];
  /** The name of the primary, as the sentinels know it. */
  readonly name: string;
  /** The user name at the sentinels themselves. Default: none. */
  readonly username?: string | undefined;
  /** The password at the sentinels themselves. Default: none. */
  readonly password?: string | undefined;
  /**
   * Whether to connect to the sentinels themselves over TLS: `true`, or the options of Node's `tls.connect`.
   * Default: without TLS.
   */
  readonly tls?: boolean | ConnectionOptions | undefined;
}

/** The address of a server, and the access to it. */
export interface RedisAddress {
  readonly url?: string | undefined;
  readonly connection?: RedisClient | undefined;
  readonly sentinels?: RedisSentinels | undefined;
  /** Some nodes of a cluster. */
  readonly cluster?: readonly RedisNode[] | undefined;
  /** The client whose settings the clients of the cluster's nodes have. */
  readonly clusterClient?: RedisClusterClient | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: ConnectionOptions | undefined;
}

/** Creates a client of a node, which is not connected. */
export type CreateNodeClient = (node: RedisNode, limitMs: number) => RedisClient;

type ClientClass = new (...options: unknown[]) => RedisClient;

export const DEFAULT_PORT = 6_379;
const LOCAL = '127.0.0.1';

/**
 * Settings of our own connections. With the defaults of ioredis a script whose reply is lost runs twice, a promise of a
 * closed connection may never settle, and requests wait for a connection without a limit.
 */
const SETTINGS = {
  lazyConnect: true,
  retryStrategy: null,
  sentinelRetryStrategy: null,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  enableAutoPipelining: false,
  autoResubscribe: false,
  reconnectOnError: null,
  keyPrefix: '',
  stringNumbers: false,
  readOnly: false,
  commandTimeout: undefined,
  protocol: 2,
  failoverDetector: false,
} as const;

/**
 * Creates a client that is not connected. It never reconnects.
 * @param limitMs the time that an attempt to connect has @param turn the number of the attempt, from 0 on
 * @throws LockConfigurationError if there is no ioredis
 */
export function createClient(address: RedisAddress, name: string, limitMs: number, turn = 0): RedisClient {
  const settings = settingsOf(address, name, limitMs);
  const { url, connection, sentinels } = address;
  if (connection) return connection.duplicate({ ...settings, ...fromTurn(sentinelsOf(connection), turn, limitMs) });
  const Client = clientClass();
  if (sentinels) {
    const asked = fromTurn(sentinels.sentinels, turn, limitMs);
    return new Client({ ...settings, ...sentinelSettings(sentinels), ...asked });
  }
  // The first one counts where both say something.
  return new Client(settings, url);
}

/**
 * Returns the sentinels in the order in which an attempt asks them. A client asks from the first one on, and its time
 * may be over after a few that are silent.
 */
function fromTurn(sentinels: readonly RedisSentinel[], turn: number, limitMs: number): object {
  // A single one may take the whole time.
  if (sentinels.length <= 1) return sentinels.length === 0 ? {} : { sentinels };
  const begin = turn % sentinels.length;
  return {
    sentinels: [...sentinels.slice(begin), ...sentinels.slice(0, begin)],
    // A silent sentinel leaves time to the next one, and to the server.
    sentinelCommandTimeout: Math.ceil(limitMs / 2),
  };
}

/** Returns the settings of ioredis for the sentinels. Those without the word are for the server that they name. */
function sentinelSettings({ name, username, password, tls }: RedisSentinels): object {
  return {
    name,
    role: 'master',
    sentinelUsername: username,
    sentinelPassword: password,
    ...(tls !== undefined && tls !== false && { sentinelTLS: tls === true ? {} : tls }),
  };
}

function sentinelsOf(client: RedisClient): readonly RedisSentinel[] {
  const { sentinels } = optionsOf(client) as { readonly sentinels?: unknown };
  return Array.isArray(sentinels) ? (sentinels as RedisSentinel[]) : [];
}

/** Creates a client of a cluster's node, as `createClient` does. */
export function createNodeClient(address: RedisAddress, node: RedisNode, name: string, limitMs: number): RedisClient {
  const { clusterClient } = address;
  const [connected] = clusterClient?.nodes('all') ?? [];
  const common = connected ? optionsOf(connected) : clusterSettings(clusterClient);
  const settings = { ...nodeSettings(node, common), ...settingsOf(address, name, limitMs) };
  if (connected) return connected.duplicate(settings);
  const Client = clientClass();
  return new Client({ ...common, ...settings });
}

function nodeSettings({ tls, ...node }: RedisNode, common: { readonly tls?: unknown }): object {
  return tls === undefined ? node : { ...node, tls: tls === true ? (common.tls ?? {}) : tls };
}

/** Returns the nodes that a client of a cluster was given, as their client reads them. */
export function nodesOf(client: RedisClusterClient): readonly RedisNode[] {
  const { startupNodes } = client as { readonly startupNodes?: unknown };
  return Array.isArray(startupNodes) ? startupNodes.flatMap(nodeOf) : [];
}

/** Nodes are written as a URL, a port, `host:port`, an address of IPv6 or an object. */
function nodeOf(given: unknown): RedisNode[] {
  if (typeof given === 'number') return [{ host: LOCAL, port: given }];
  if (typeof given === 'string') return isIPv6(given) ? [{ host: given, port: DEFAULT_PORT }] : nodeOfText(given);
  const { host = LOCAL, port = DEFAULT_PORT, username, password, tls } = (given ?? {}) as Partial<RedisNode>;
  return [{ host: withoutBrackets(host), port: Number(port), ...accessOf(username, password), ...(tls && { tls }) }];
}

function nodeOfText(text: string): RedisNode[] {
  if (/^\d+$/.test(text)) return [{ host: LOCAL, port: Number(text) }];
  const url = text.includes('://') ? text : `redis://${text}`;
  if (!URL.canParse(url)) return [];
  const { protocol, hostname, port, username, password } = new URL(url);
  if (hostname === '') return [];
  const isGiven = username !== '' || password !== '';
  return [
    {
      host: withoutBrackets(hostname),
      port: Number(port || DEFAULT_PORT),
      ...(isGiven && accessOf(decoded(username), decoded(password))),
      ...(protocol === 'rediss:' && { tls: true }),
    },
  ];
}

/** @throws LockConfigurationError, which does not repeat the text: it is a credential, or next to one */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new LockConfigurationError(
      'connection: the user or the password in the URL of a node has a % that is not followed by two hexadecimal digits of ' +
        'a character in UTF-8: write %25 for a percent sign',
    );
  }
}

function accessOf(
  username: string | undefined,
  password: string | undefined,
): Pick<RedisNode, 'username' | 'password'> {
  return { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
}

/** URLs have an address of IPv6 in brackets, and sockets take it without. */
function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}

function clusterSettings(client: RedisClusterClient | undefined): object {
  const { redisOptions } = optionsOf(client) as { readonly redisOptions?: object };
  return redisOptions ?? {};
}

function optionsOf(client: RedisClient | RedisClusterClient | undefined): object {
  const { options } = (client ?? {}) as { readonly options?: object };
  return options ?? {};
}

function settingsOf({ username, password, tls }: RedisAddress, name: string, limitMs: number): object {
  return {
    ...SETTINGS,
    connectionName: name,
    connectTimeout: limitMs,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    // Without the second setting a server that sentinels name is sent the password in clear.
    ...(tls !== undefined && { tls, enableTLSForSentinelMode: true }),
  };
}

/**
 * Closes a client at once. The client would only end its socket, and stop listening to it: an error of a TLS handshake
 * that comes after that would end the process.
 */
export function closeClient(client: RedisClient): void {
  client.disconnect();
  const { stream } = client;
  stream?.on('error', () => {});
  stream?.destroy();
}

/**
 * Returns the client's class. The package is loaded by the first call: applications on another backend do not have it.
 * @throws LockConfigurationError if it is not installed
 */
export function clientClass(): ClientClass {
  try {
    const { Redis } = createRequire(import.meta.url)('ioredis') as { Redis: ClientClass };
    return Redis;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new LockConfigurationError(
      'redis() needs the package ioredis, which is not installed: npm install ioredis; or give a client of ioredis or ' +
        'iovalkey as `connection`',
      { cause },
    );
  }
}
