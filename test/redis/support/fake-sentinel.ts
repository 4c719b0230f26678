import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';

/** The address of a server of a test. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** The certificate of a server with TLS, and its key. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** Starts a server that accepts connections, and never answers. It ends when the test has finished. */
export async function silentServer(): Promise<Address> {
  return listening(createServer());
}

/** Starts a server that notes the first bytes of each connection, and never answers. */
export async function listeningServer(): Promise<Address & { readonly received: readonly Buffer[] }> {
  const received: Buffer[] = [];
  const address = await listening(createServer((client) => client.once('data', (bytes) => received.push(bytes))));
  return { ...address, received };
}

/**
 * Starts a server that names a primary as a sentinel does, and notes what it was told.
 * @param identity its certificate, when it is to listen with TLS
 */
export async function fakeSentinel(
  primary: Address,
  identity?: Identity,
): Promise<Address & { readonly received: readonly string[] }> {
  const received: string[] = [];
  const answer = (client: Socket) => {
    client.on('data', (bytes) => {
      const text = bytes.toString();
      received.push(text);
      for (const command of text.split(/^\*\d+\r\n/m).slice(1)) client.write(answerTo(command, primary));
    });
  };
  const server = identity === undefined ? createServer(answer) : createTlsServer({ ...identity }, answer);
  return { ...(await listening(server)), received };
}

function answerTo(command: string, { host, port }: Address): string {
  if (!/get-master-addr-by-name/i.test(command)) return '+OK\r\n';
  return `*2\r\n${[host, String(port)].map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

async function listening(server: Server): Promise<Address> {
  const open = new Set<Socket>();
  server.on('connection', (client: Socket) => {
    open.add(client);
    client.on('error', () => {});
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const client of open) client.destroy();
    server.close();
  });
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}
