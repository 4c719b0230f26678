import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { zookeeper } from '../../lib/zookeeper/zookeeper.backend.js';
import { secureServer } from '../support/secure-zookeeper.js';
import { openService } from '../support/services.js';
import { contendersAt, openClient } from '../support/znodes.js';

describe('over TLS', () => {
  it('locks with a client certificate, on a server that it verifies by name', async () => {
    const { server, connectString, trusted } = await secureServer();
    const basePath = freshBasePath();
    const service = await openService({ connectString, basePath, tls: trusted });
    const lease = await service.acquire('k');
    const client = await openClient(server.connectString);
    expect(lease.isHeld()).toBe(true);
    expect(await contendersAt(client, `${basePath}/k`)).toHaveLength(1);

    expect(() => zookeeper({ tls: { ...trusted, passphrase: 'another' } })).toThrow(
      /^tls\.passphrase must be the one of tls\.pfx/,
    );
    const refused = { connectString, connectTimeoutMs: 1_000 };
    const { pfx, passphrase, ...anonymous } = trusted;
    await expect(openService({ ...refused, tls: anonymous })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await expect(openService({ ...refused, tls: { ...trusted, servername: 'another.test' } })).rejects.toThrow(
      /another\.test/,
    );
    await expect(openService({ ...refused, tls: { pfx, passphrase, servername: 'zk.test' } })).rejects.toThrow(
      /self-signed certificate/,
    );
  });
});

describe('over IPv6', () => {
  it('connects to a literal address', async () => {
    const [host = '', port = ''] = inject('zookeeper').split(':');
    const relay = createServer((inbound) => {
      const outbound = connect(Number(port), host);
      inbound.pipe(outbound).pipe(inbound);
      [inbound, outbound].forEach((socket) => socket.on('error', () => {}));
    });
    await new Promise<void>((resolve) => relay.listen(0, '::1', resolve));
    onTestFinished(() => void relay.close());

    const connectString = `[::1]:${(relay.address() as AddressInfo).port}`;
    const service = await openService({ connectString, basePath: freshBasePath() });
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });
});
