import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Returns a port of 127.0.0.1 that is free right now. Another process may take it before the caller does. */
export function freeLoopbackPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
