import { connect, constants } from 'node:http2';
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { after } from '../../async/timer.js';
import { CallError, CODES } from './etcd-error.js';
import { frameOf, Frames } from './frames.js';

/** A call with many messages in both directions. */
export interface GrpcStream {
  write(message: Buffer): void;
  /** Gives the call up: its listener hears no more of it. */
  cancel(): void;
}

export interface CallOptions {
  /** The time until the call fails. Default: as long as the connection lives. */
  readonly limitMs?: number | undefined;
  readonly withoutToken?: boolean;
}

/** The listener of a call. */
interface CallListener {
  readonly onMessage: (message: Buffer) => void;
  /** Called once. `undefined`: the server has ended the call, and all is well. */
  readonly onEnd: (error: CallError | undefined) => void;
}

const { HTTP2_HEADER_METHOD, HTTP2_HEADER_PATH, HTTP2_HEADER_STATUS, NGHTTP2_CANCEL } = constants;

/** Large answers come in one piece. */
const WINDOW_BYTES = 1_024 * 1_024;
const SETTINGS = { enablePush: false, initialWindowSize: WINDOW_BYTES };

/** Opens a client of one address. */
export type OpenClient = (host: string) => EtcdClient;

/** @param tls options of Node's `tls`; `undefined`: plain connections @throws Error for certificates that are none */
export function clientOpener(tls: ConnectionOptions | undefined): OpenClient {
  const secure = tls && { ...tls, secureContext: createSecureContext(tls) };
  return (host) => new EtcdClient(connect(`${secure ? 'https' : 'http'}://${host}`, { ...secure, settings: SETTINGS }));
}

/**
 * gRPC on one connection of Node's HTTP/2: a call is a request with a path, its messages have their length before them,
 * and its result is in the trailers. A connection is never opened again, and no call is repeated.
 */
export class EtcdClient {
  readonly #session: ClientHttp2Session;
  #token: string | undefined;
  #fault: Error | undefined;
  #isClosed = false;

  constructor(session: ClientHttp2Session) {
    this.#session = session;
    session.on('error', (error: Error) => (this.#fault = error));
    session.once('connect', () => {
      if (!session.destroyed) session.setLocalWindowSize(WINDOW_BYTES);
    });
  }

  /** Makes a call with one message in each direction. @throws CallError */
  call(method: string, message: Buffer, { limitMs, withoutToken = false }: CallOptions = {}): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined;
      const { stream, end } = this.#open(method, withoutToken, {
        onMessage: (received) => (answer = received),
        onEnd: (error) => {
          if (answer && !error) resolve(answer);
          else reject(error ?? new CallError(CODES.internal, 'no answer'));
        },
      });
      stream?.end(frameOf(message));
      if (limitMs === undefined) return;
      const late = () => end(new CallError(CODES.deadline, `no answer within ${limitMs} ms`));
      stream?.once('close', after(limitMs, late));
    });
  }

  stream(method: string, listener: CallListener): GrpcStream {
    const { stream, cancel } = this.#open(method, false, listener);
    return { cancel, write: (message) => void stream?.write(frameOf(message)) };
  }

  /** Sends the token with each later call. */
  useToken(token: string): void {
    this.#token = token;
  }

  /** Ends the connection, and a moment later all calls with it. No call receives a message after it. */
  close(): void {
    this.#isClosed = true;
    // A listener of a call may be on the stack. Node would free the stream whose bytes it is still reading.
    setImmediate(() => this.#session.destroy());
  }

  #open(method: string, withoutToken: boolean, { onMessage, onEnd }: CallListener) {
    let isOver = false;
    let stream: ClientHttp2Stream | undefined;
    const end = (error: CallError | undefined) => {
      if (isOver) return;
      isOver = true;
      if (error) stream?.close(NGHTTP2_CANCEL);
      onEnd(error);
    };
    const cancel = () => {
      isOver = true;
      stream?.close(NGHTTP2_CANCEL);
    };
    // Every call closes, and an error with its stack is slow to make.
    const lost = (error?: Error) => {
      if (!isOver) end(this.#lost(error));
    };
    const received = (message: Buffer) => {
      if (!isOver && !this.#isClosed) onMessage(message);
    };
    try {
      if (this.#isClosed) throw new Error('the connection is closed');
      stream = this.#session.request(this.#headersOf(method, withoutToken));
      this.#listen(stream, received, end);
      stream.on('error', lost).on('close', lost);
    } catch (error) {
      // The caller does not yet have what it listens with.
      queueMicrotask(() => end(this.#lost(error as Error)));
    }
    return { stream, cancel, end };
  }

  #listen(
    stream: ClientHttp2Stream,
    onMessage: (message: Buffer) => void,
    end: (error: CallError | undefined) => void,
  ): void {
    const frames = new Frames(onMessage);
    const found = (headers: IncomingHttpHeaders) => {
      const status = statusOf(headers);
      if (status !== undefined) end(status === 'ok' ? undefined : status);
    };
    // Without a message, the result is where the headers are.
    stream.on('response', found).on('trailers', found);
    stream.on('data', (bytes: Buffer) => {
      try {
        frames.add(bytes);
      } catch (error) {
        end(new CallError(CODES.internal, (error as Error).message));
      }
    });
  }

  #lost(error?: Error): CallError {
    return new CallError(CODES.unavailable, (this.#fault ?? error)?.message ?? 'the server has closed it');
  }

  #headersOf(method: string, withoutToken: boolean): OutgoingHttpHeaders {
    return {
      [HTTP2_HEADER_METHOD]: 'POST',
      [HTTP2_HEADER_PATH]: method,
      'content-type': 'application/grpc',
      te: 'trailers',
      // Ends a watch on a server that has lost its leader, instead of leaving it silent.
      hasleader: 'true',
      ...(this.#token !== undefined && !withoutToken && { token: this.#token }),
    };
  }
}

/** Returns the result of a call, if headers or trailers have it. */
function statusOf(headers: IncomingHttpHeaders): CallError | 'ok' | undefined {
  const { 'grpc-status': status, 'grpc-message': message = '', [HTTP2_HEADER_STATUS]: http } = headers;
  if (status === '0') return 'ok';
  if (status !== undefined) return new CallError(Number(status), decoded(String(message)));
  const isHttp = http === undefined || Number(http) === 200;
  return isHttp ? undefined : new CallError(CODES.unavailable, `it answered with the HTTP status ${Number(http)}`);
}

function decoded(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}
