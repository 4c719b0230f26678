import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** {int length; int protocolVersion; long lastZxidSeen; int timeOut; long sessionId; int 16; byte[16] passwd} */
const SESSION_ID = { start: 20, end: 28 };
const PASSWORD = { start: 32, end: 48 };

/** A proxy that makes a server forget sessions: a client that asks to renew its session gets a new one. */
export interface ForgetfulProxy {
  readonly connectString: string;
  /** From now on, renewals are answered with a new session. */
  forget(): void;
  disconnect(): void;
}

export async function openForgetfulProxy(target: string): Promise<ForgetfulProxy> {
  let forgets = false;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.split(':').at(-1)), '127.0.0.1');
    const end = () => [client, upstream].forEach((socket) => socket.destroy());
    for (const socket of [client, upstream]) sockets.add(socket.on('error', end).on('close', end));
    upstream.pipe(client);
    client.once('data', (handshake: Buffer) => {
      if (forgets) {
        handshake.fill(0, SESSION_ID.start, SESSION_ID.end);
        handshake.fill(0, PASSWORD.start, PASSWORD.end);
      }
      upstream.write(handshake);
      client.pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const disconnect = () => sockets.forEach((socket) => socket.destroy());
  onTestFinished(() => {
    server.close();
    disconnect();
  });
  return {
    connectString: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    forget: () => (forgets = true),
    disconnect,
  };
}
