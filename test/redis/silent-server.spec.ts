import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { RENEW } from '../../lib/redis/scripts/session-scripts.js';
import { RedisServer } from '../../lib/testing/index.js';
import { clientsOf, hold, requestFor } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** A proxy that lets one renewal find an empty server, and passes nothing of its connections on after that. */
async function emptyingProxy() {
  const [open, silent] = [new Set<Socket>(), new Set<Socket>()];
  let state: 'passing' | 'armed' | 'silent' = 'passing';
  let renewals = 0;
  const proxy = createServer({ noDelay: true }, (client) => {
    const target = connect(server.port, '127.0.0.1');
    open.add(client);
    for (const [one, other] of [[client, target] as const, [target, client] as const]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
    target.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      if (silent.has(client)) return;
      if (bytes.includes(RENEW.sha)) renewals++;
      if (state !== 'armed' || !bytes.includes(RENEW.sha)) return void target.write(bytes);
      state = 'silent';
      for (const one of open) silent.add(one);
      const emptying = connect(server.port, '127.0.0.1', () => emptying.write('FLUSHDB\r\n'));
      emptying.once('data', () => {
        target.write(bytes);
        emptying.destroy();
      });
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    arm: () => void (state = 'armed'),
    renewals: () => renewals,
    isSilent: () => state === 'silent',
  };
}

it('leaves a server that is silent when the next session is to begin', async () => {
  const proxy = await emptyingProxy();
  const open = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 1_200, connectTimeoutMs: 1_000 });
  const client = open(proxy.url);
  await (await hold(client, 'k')).release();
  // The first one brings the script's text.
  await expect.poll(proxy.renewals).toBeGreaterThan(1);
  proxy.arm();
  await expect.poll(proxy.isSilent).toBe(true);
  const granted = async () => {
    const lease = await client.acquire(requestFor('k')).catch(() => null);
    await lease?.release();
    return lease !== null;
  };
  await expect.poll(granted).toBe(true);
});
