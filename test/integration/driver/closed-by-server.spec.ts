import { describe, expect, inject, it } from 'vitest';
import { ZooKeeperServer } from '../../../lib/testing/index.js';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { untilState } from './support/leases.js';
import { connectClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createEphemeral } from './support/open-session.js';
import { openPlain, said } from './support/plain-client.js';

const target = inject('zookeeper');

describe('the plain driver, when the server closes its connection', () => {
  it('loops forever when a lost request is repeated in the same turn', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString);
    const down = said(plain, 'disconnected');
    let attempts = 0;
    const ask = () =>
      plain.getData('/', (error) => {
        if (error && ++attempts < 10_000) ask();
      });
    proxy.blackHole('toClient');
    ask();
    let turns = 0;
    setImmediate(() => turns++);
    proxy.disconnect();
    await down;
    // All in one turn: without the limit, the driver would never have emitted `disconnected`.
    expect(attempts).toBe(10_000);
  });
});

describe('a client whose connection the server closes', () => {
  it.each(['fin', 'rst'] as const)('reports the loss once, and the new connection: %s', async (how) => {
    const proxy = await openProxy(target);
    const { client, told, next } = await connectClient(proxy.connectString);
    const own = await createEphemeral(client, freshBasePath());
    const [down, again] = [next('disconnected'), next('connected')];
    proxy.disconnect(how);
    await down;
    const { sessionId } = await again;
    expect(sessionId).toBe((await client.read(own.path)).stat.ephemeralOwner);
    expect(told).toEqual(['connected', 'disconnected', 'connected']);
  });

  it('does not loop when a lost request is repeated in the same turn', async () => {
    const proxy = await openProxy(target);
    const { client, next } = await connectClient(proxy.connectString);
    const again = next('connected');
    let attempts = 0;
    const ask = (): Promise<unknown> =>
      client.read('/').catch(() => {
        attempts++;
        return attempts < 1_000 ? ask() : undefined;
      });
    proxy.disconnect();
    await ask();
    await again;
    expect(attempts).toBeLessThanOrEqual(1_000);
    await client.read('/');
  });
});

describe('a lease whose server closes the connection', () => {
  it.each(['fin', 'rst'] as const)('is suspended before anything else happens, and then held: %s', async (how) => {
    const proxy = await openProxy(target);
    const basePath = freshBasePath();
    const service = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 8_000 });
    const lease = await service.acquire('k');
    proxy.refuse();
    proxy.disconnect(how);
    await untilState(lease, 'suspended');
    expect([lease.isHeld(), service.state]).toEqual([true, 'suspended']);
    proxy.heal();
    await untilState(lease, 'held');
    expect([lease.isHeld(), service.state]).toEqual([true, 'connected']);
    expect(await contendersAt(await openClient(target), `${basePath}/k`)).toHaveLength(1);
  });

  it('outlives a restart of the server within the session timeout', async () => {
    await using server = await ZooKeeperServer.start({ tickTimeMs: 2_000 });
    const basePath = freshBasePath();
    const service = await openService({ connectString: server.connectString, basePath, sessionTimeoutMs: 30_000 });
    const lease = await service.acquire('k');
    await server.kill();
    await untilState(lease, 'suspended');
    await server.restart();
    await untilState(lease, 'held');
    expect(lease.isHeld()).toBe(true);
    expect(await service.tryAcquire('k', { reentrant: false }).catch(() => null)).toBeNull();
    await lease.release();
  });
});
