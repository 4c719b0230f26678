import { createServer } from 'node:net';

// Below those that systems take for outgoing connections (Linux: from 32 768 on): none of these may get the port of a
// server that is down for a while, and a client that tries to reach it must not be connected to itself.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** So many different ports of 127.0.0.1 that nobody listens on right now. Somebody else may take one before you do. */
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
