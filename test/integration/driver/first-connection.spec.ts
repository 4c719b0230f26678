import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { unusedPort } from '../../support/unused-port.js';
import { openProxy } from './support/open-proxy.js';
import { plainDriver } from './support/plain-client.js';

const target = inject('zookeeper');
const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

describe('a service, when there is no server', () => {
  it('reports that in time, with the cause', async () => {
    const connectString = `127.0.0.1:${await unusedPort()}`;
    await expect(openService({ connectString, connectTimeoutMs: 500 })).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('starts when only one of many servers is reachable', async () => {
    const dead = await Promise.all(Array.from({ length: 5 }, () => unusedPort()));
    const servers = [...dead.map((port) => `127.0.0.1:${port}`), target];
    const service = await openService({ connectString: servers.join(), basePath: freshBasePath() });
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });

  it('starts when its only reachable server hung up on it at first', async () => {
    const proxy = await openProxy(target);
    proxy.cutAfter(0);
    const service = await openService({ connectString: proxy.connectString, basePath: freshBasePath() });
    expect(proxy.accepted).toBe(2);
    await service.using('k', () => {});
  });
});

describe.runIf(hasIPv6)('a server with an IPv6 address', () => {
  const openOnIPv6 = async () => {
    const server = createServer((client) => {
      const upstream = connect(Number(target.split(':').at(-1)), '127.0.0.1');
      const end = () => [client, upstream].forEach((socket) => socket.destroy());
      for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
      client.pipe(upstream).pipe(client);
    });
    server.listen(0, '::1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `[::1]:${(server.address() as AddressInfo).port}`;
  };

  it('is misparsed by the plain driver', async () => {
    const client = plainDriver.createClient(await openOnIPv6());
    expect(client.connectionManager.servers).toEqual([{ host: '[', port: expect.anything() }]);
  });

  it('works', async () => {
    const service = await openService({ connectString: await openOnIPv6(), basePath: freshBasePath() });
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });
});
