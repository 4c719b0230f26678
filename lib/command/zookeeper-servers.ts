import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { deferred } from '../async/deferred.js';
import { nextTurn, orTimeout, settledWithin } from '../async/timer.js';

/** One ZooKeeper server, asked on connections without a session, so that nothing is left behind. */
export interface AskedServer {
  readonly host: string;
  readonly port: number;
  /** The options of the TLS connection. Default: no TLS. */
  readonly tls?: ConnectionOptions | undefined;
}

const MOST_BYTES = 10_000;

/** Returns the version of a server, by the word that servers answer by default. `undefined` when it does not tell. */
export async function versionOf(server: AskedServer, withinMs: number): Promise<string | undefined> {
  const answer = await srvr(server, withinMs).catch(() => '');
  return /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(answer)?.[1];
}

function srvr(server: AskedServer, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = open(server, () => socket.write('srvr'));
    socket.setTimeout(withinMs, () => socket.destroy(new Error('no answer')));
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.length > MOST_BYTES) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** The size of a request to open a session, which no server refuses. */
const SMALL_BYTES = 45;
/** A length that every server refuses. */
const IMPOSSIBLE_BYTES = -1;
const LEAST_PATIENCE_MS = 100;

/**
 * Whether a server accepts requests of this size (`jute.maxbuffer`). Servers tell the limit nowhere. But they close a
 * connection when they have read a length above it, and wait for the rest of the request otherwise. So the length alone
 * is sent. `undefined` when a server does not behave like that, or does not answer in time. Never rejects.
 */
export async function accepts(server: AskedServer, bytes: number, withinMs: number): Promise<boolean | undefined> {
  const [small, asked] = [announce(server, SMALL_BYTES), announce(server, bytes)];
  const noAnswer = () => new Error('no answer');
  try {
    await orTimeout(Promise.all([small.sent, asked.sent]), withinMs, noAnswer);
    // A server that is slow to refuse the impossible is as slow to refuse the question, which it had before.
    const startedAt = performance.now();
    const impossible = announce(server, IMPOSSIBLE_BYTES);
    await orTimeout(impossible.sent.then(impossible.closed), withinMs, noAnswer).finally(impossible.end);
    await settledWithin(asked.closed(), Math.max(LEAST_PATIENCE_MS, 2 * (performance.now() - startedAt)));
    // After a stall of this process, timers come before what the sockets have received meanwhile.
    await nextTurn();
    return small.isClosed() ? undefined : !asked.isClosed();
  } catch {
    return undefined;
  } finally {
    small.end();
    asked.end();
  }
}

/** Sends the length of a request, and nothing of the request. */
function announce(server: AskedServer, bytes: number) {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes);
  const [sent, closed] = [deferred(), deferred()];
  let isClosed = false;
  const socket = open(server, () => socket.write(length, () => sent.resolve()));
  socket.on('error', (error) => sent.reject(error));
  socket.on('close', () => {
    isClosed = true;
    closed.resolve();
  });
  // Without a reader, the end of the connection would not be seen.
  socket.resume();
  return { sent: sent.promise, closed: () => closed.promise, isClosed: () => isClosed, end: () => socket.destroy() };
}

function open({ host, port, tls }: AskedServer, connected: () => void): Socket {
  return tls ? connectTls({ ...tls, host, port }, connected) : connect({ host, port }, connected);
}
