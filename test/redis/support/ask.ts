import { Redis } from 'ioredis';

/** Returns the answer of the server on a port to a command. The connection is closed after it. */
export async function ask(port: number, name: string, ...words: (string | number)[]): Promise<readonly string[]> {
  const client = new Redis(port, '127.0.0.1', { lazyConnect: true, enableReadyCheck: false, retryStrategy: null });
  client.on('error', () => {});
  try {
    await client.connect();
    return [await client.call(name, ...words)].flat() as string[];
  } finally {
    client.disconnect();
  }
}
