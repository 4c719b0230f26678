import { createRequire } from 'node:module';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { LockConfigurationError } from '../../contract/errors.js';

/** The parts of `@grpc/grpc-js` that are used here. Names and types are its own. */
interface Grpc {
  readonly Client: new (address: string, credentials: object, options: object) => GrpcClient;
  readonly Metadata: new () => Metadata;
  readonly credentials: {
    createInsecure(): object;
    createFromSecureContext(context: object, options: object): object;
  };
}

/** The headers of a call. */
interface Metadata {
  set(name: string, value: string): void;
}

/** A call that can be given up. */
export interface GrpcCall {
  cancel(): void;
}

/** A call with many messages in both directions. */
export interface GrpcStream extends GrpcCall {
  write(message: Buffer): boolean;
  on(event: string, listener: (...values: never[]) => void): unknown;
}

type AsIs = (bytes: Buffer) => Buffer;
type OnAnswer = (error: Error | null, answer?: Buffer) => void;

/** A client of one address. */
interface GrpcClient {
  makeUnaryRequest(
    method: string,
    serialize: AsIs,
    deserialize: AsIs,
    message: Buffer,
    headers: Metadata,
    options: { readonly deadline?: number },
    onAnswer: OnAnswer,
  ): GrpcCall;
  makeBidiStreamRequest(method: string, serialize: AsIs, deserialize: AsIs, headers: Metadata): GrpcStream;
  close(): void;
}

export interface CallOptions {
  /** The time for the answer, in milliseconds. Default: no limit. */
  readonly limitMs?: number | undefined;
  /** Servers refuse every request with a token that has ended, also the one for the next token. */
  readonly withoutToken?: boolean;
}

/** Calls to one server by the paths of their methods. Messages are bytes. */
export interface EtcdClient {
  call(method: string, message: Buffer, onAnswer: OnAnswer, options?: CallOptions): GrpcCall;
  stream(method: string): GrpcStream;
  /** Sends the token with each later call. */
  useToken(token: string): void;
  close(): void;
}

/** Opens a client of one address. */
export type OpenClient = (host: string) => EtcdClient;

/**
 * Settings of our own connections. A link has one connection, and its first fault is reported: the library neither
 * connects again nor repeats a call by itself.
 */
const SETTINGS = {
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_channelz': 0,
};

const PACKAGE = '@grpc/grpc-js';
const asIs: AsIs = (bytes) => bytes;

/** @param tls options of Node's `tls`; `undefined`: plain connections */
export function clientOpener(tls: ConnectionOptions | undefined): OpenClient {
  const { Client, Metadata: Headers, credentials } = grpc();
  const access = tls === undefined ? credentials.createInsecure() : secure(tls);
  const settings = { ...SETTINGS, ...(tls?.servername && { 'grpc.ssl_target_name_override': tls.servername }) };
  return (host) => {
    const client = new Client(host, access, settings);
    const headersWith = (token?: string) => {
      const all = new Headers();
      // Ends a watch on a server that has lost its leader, instead of leaving it silent.
      all.set('hasleader', 'true');
      if (token !== undefined) all.set('token', token);
      return all;
    };
    const plain = headersWith();
    let headers = plain;
    return {
      call(method, message, onAnswer, { limitMs, withoutToken = false } = {}) {
        const options = limitMs === undefined ? {} : { deadline: Date.now() + limitMs };
        const used = withoutToken ? plain : headers;
        return client.makeUnaryRequest(method, asIs, asIs, message, used, options, onAnswer);
      },
      stream: (method) => client.makeBidiStreamRequest(method, asIs, asIs, headers),
      useToken(token) {
        headers = headersWith(token);
      },
      close: () => client.close(),
    };
  };
}

function secure({ rejectUnauthorized, checkServerIdentity, ...options }: ConnectionOptions): object {
  const checks = {
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    ...(checkServerIdentity && { checkServerIdentity }),
  };
  return grpc().credentials.createFromSecureContext(createSecureContext(options), checks);
}

/**
 * Returns the library that speaks gRPC. It is loaded by the first call: applications on another backend do not have it.
 * @throws LockConfigurationError if it is not installed
 */
function grpc(): Grpc {
  try {
    return createRequire(import.meta.url)(PACKAGE) as Grpc;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw cause;
    throw new LockConfigurationError(
      `etcd() needs the package ${PACKAGE}, which is not installed: npm install ${PACKAGE}`,
      {
        cause,
      },
    );
  }
}
