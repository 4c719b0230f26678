import { createServer } from 'node:net';

// Below the range for outgoing connections (Linux: from 32 768 on). An outgoing connection must not take the port of a
// server that is down for a while. A client that tries to reach that server must not be connected to itself.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/**
 * Returns `count` different ports of 127.0.0.1 that are free right now. Another process may take one before the caller
 * does.
 */
export async function freeServerPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
