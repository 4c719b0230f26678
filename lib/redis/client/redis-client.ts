import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { LockConfigurationError } from '../../contract/errors.js';

/**
 * The part of an ioredis client that is used here, the same in ioredis 5 and 6 and in iovalkey. Names and types are
 * theirs.
 */
export interface RedisClient {
  /** Opens the connection. */
  connect(): Promise<void>;
  /** Closes the connection at once. */
  disconnect(): void;
  /** Sends a command. Replies are text. */
  call(command: string, ...values: (string | number | Buffer)[]): Promise<unknown>;
  /** Sends a command. Replies are bytes. */
  callBuffer(command: string, ...values: (string | number | Buffer)[]): Promise<unknown>;
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

/** The addresses of a server's sentinels. */
export interface RedisSentinels {
  /** The sentinels. */
  readonly sentinels: readonly RedisSentinel[];
  /** The name of the primary, as the sentinels know it. */
  readonly name: string;
}

/** The address of a server, and the access to it. */
export interface RedisAddress {
  readonly url?: string | undefined;
  readonly connection?: RedisClient | undefined;
  readonly sentinels?: RedisSentinels | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: ConnectionOptions | undefined;
}

type ClientClass = new (...options: unknown[]) => RedisClient;

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
  readOnly: false,
  commandTimeout: undefined,
  protocol: 2,
  failoverDetector: false,
} as const;

/** Creates a client that is not connected. It never reconnects. @throws LockConfigurationError if there is no ioredis */
export function createClient(address: RedisAddress, name: string, limitMs: number): RedisClient {
  const settings = { ...SETTINGS, connectionName: name, connectTimeout: limitMs };
  const { url, connection, sentinels, username, password, tls } = address;
  const access = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls }),
  };
  if (connection) return connection.duplicate({ ...settings, ...access });
  const Client = clientClass();
  if (sentinels) return new Client({ ...settings, ...access, ...sentinels, role: 'master' });
  return new Client(url, { ...settings, ...access });
}

/**
 * Closes a client at once. The client would only end its socket, and stop listening to it: an error of a TLS handshake
 * that comes after that would end the process.
 */
export function closeClient(client: RedisClient): void {
  client.disconnect();
  const { stream } = client as { readonly stream?: Socket };
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
