import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startLoopback } from '../../bench/servers/loopback-process.js';
import { startRedis } from '../../bench/servers/redis.js';

describe("a server of the bench's own", () => {
  it('says what to install when its program is missing', async () => {
    const nowhere = { program: 'no-such-server', debianPackage: 'such-a-package', settings: () => ({}) };
    await expect(startLoopback({ ...nowhere, serves: async () => false })).rejects.toThrow(
      /no-such-server did not start \(apt-get install such-a-package/,
    );
  });

  it('shows its output when it does not start', async () => {
    const settings = () => ({ nonsense: 1 });
    const broken = { program: 'redis-server', debianPackage: 'redis-server', settings };
    await expect(startLoopback({ ...broken, serves: async () => false })).rejects.toThrow(/nonsense/);
  });

  it('is gone once it was stopped', async () => {
    const server = await startRedis('no');
    expect(await accepts(server.address)).toBe(true);
    await server.stop();
    expect(await accepts(server.address)).toBe(false);
  });
});

function accepts(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
