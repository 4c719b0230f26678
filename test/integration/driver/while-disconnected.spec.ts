import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { contendersAt, openClient } from '../../support/znodes.js';
import { lost } from './support/leases.js';
import { connectClient } from './support/observed-client.js';
import { openProxy } from './support/open-proxy.js';
import { createEphemeral } from './support/open-session.js';
import { serverHas } from './support/outside.js';
import { EPHEMERAL, openPlain, plainly, said } from './support/plain-client.js';

const target = inject('zookeeper');

describe('the plain driver, while it is disconnected', () => {
  it('queues requests, and sends them when no caller waits for them', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString, { sessionTimeout: 8_000 });
    const path = freshBasePath();
    const [down, again] = [said(plain, 'disconnected'), said(plain, 'connected')];
    proxy.refuse();
    proxy.disconnect();
    await down;

    const created = plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    const { packetQueue, pendingQueue } = plain.connectionManager;
    expect([packetQueue.queue.length, pendingQueue.length]).toEqual([1, 0]);
    // Whether its caller still waits is nothing that the driver could know.
    proxy.heal();
    await Promise.all([again, created]);

    expect(await serverHas(target, path)).toBe(true);
  });
});

describe('a client, while it is disconnected', () => {
  it('rejects requests at once, and never sends them', async () => {
    const proxy = await openProxy(target);
    const { client, next } = await connectClient(proxy.connectString, { sessionTimeoutMs: 8_000 });
    const path = freshBasePath();
    const [down, again] = [next('disconnected'), next('connected')];
    proxy.refuse();
    proxy.disconnect();
    await down;

    const asked = [
      createEphemeral(client, path),
      client.delete('/'),
      client.read('/'),
      client.children('/'),
      client.watch('/'),
      client.sync('/'),
      client.multi([]),
    ];
    for (const one of asked) await expect(one).rejects.toMatchObject({ isConnectionLoss: true });
    client.ping();
    proxy.heal();
    await again;
    await client.sync('/');

    expect(await serverHas(target, path)).toBe(false);
  });

  it('rejects in the turn in which it reports the disconnection', async () => {
    const proxy = await openProxy(target);
    const { client, on } = await connectClient(proxy.connectString);
    const path = freshBasePath();
    const asked = new Promise((resolve) => on('disconnected', () => resolve(createEphemeral(client, path))));
    proxy.disconnect();
    await expect(asked).rejects.toMatchObject({ isConnectionLoss: true });
    expect(await serverHas(target, path)).toBe(false);
  });

  it('rejects before the first connection too', async () => {
    const { client } = await connectClient(target);
    const { client: late } = await connectClient(target);
    await late.close(1_000);
    await expect(late.read('/')).rejects.toMatchObject({ isConnectionLoss: true });
    await client.read('/');
  });

  it.each(['rst', 'fin'] as const)('settles all pending requests, and keeps count: %s', async (how) => {
    const proxy = await openProxy(target);
    const { client, next } = await connectClient(proxy.connectString);
    const base = freshBasePath();
    const again = next('connected');
    proxy.blackHole('toClient');
    const asked = Array.from({ length: 200 }, (_, index) => createEphemeral(client, `${base}-${index}`));
    const settled = Promise.allSettled(asked);
    proxy.refuse();
    proxy.disconnect(how);
    for (const { status, reason } of (await settled) as PromiseRejectedResult[]) {
      expect([status, reason]).toEqual(['rejected', expect.objectContaining({ isConnectionLoss: true })]);
    }
    expect(client.unansweredSince).toBeUndefined();
    proxy.heal();
    await again;
    await client.read('/');
  });
});

describe('an acquisition that was given up while there was no server', () => {
  it('leaves no znode when a server is back', async () => {
    const proxy = await openProxy(target);
    const basePath = freshBasePath();
    const service = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 8_000 });
    const held = await service.acquire('held');
    proxy.refuse();
    proxy.disconnect();
    await expect(service.acquire('k', { waitMs: 200 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await expect(service.acquire('k', { signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout/);
    proxy.heal();
    await service.using('another', () => {});

    const client = await openClient(target);
    expect(await contendersAt(client, `${basePath}/k`)).toEqual([]);
    expect(await contendersAt(client, `${basePath}/held`)).toHaveLength(1);
    expect(held.isHeld()).toBe(true);
  });

  it('leaves no znode when the server got the request and the reply was lost', async () => {
    const proxy = await openProxy(target);
    const basePath = freshBasePath();
    const service = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 6_000 });
    await service.using('k', () => {});
    proxy.blackHole('toClient');
    await expect(service.acquire('k', { waitMs: 300 })).rejects.toMatchObject({ name: expect.stringMatching(/^Lock/) });
    proxy.heal();
    await service.using('another', () => {});
    await service.using('k', () => {});
    expect(await contendersAt(await openClient(target), `${basePath}/k`)).toEqual([]);
  });
});

describe('a lease whose servers went out of reach', () => {
  it('can be released at once, and its znode is deleted when a server is back', async () => {
    const proxy = await openProxy(target);
    const basePath = freshBasePath();
    const options = { connectString: proxy.connectString, basePath, sessionTimeoutMs: 8_000, releaseTimeoutMs: 100 };
    const service = await openService(options);
    const lease = await service.acquire('k');
    proxy.refuse();
    proxy.disconnect();
    await lease.release();
    expect([lease.state, lease.isHeld()]).toEqual(['released', false]);
    proxy.heal();
    const rival = await openService({ connectString: target, basePath });
    expect((await rival.acquire('k')).isHeld()).toBe(true);
  });

  it('is lost in time, whether or not it is observed', async () => {
    const proxy = await openProxy(target);
    const basePath = freshBasePath();
    const service = await openService({ connectString: proxy.connectString, basePath, sessionTimeoutMs: 1_000 });
    const rival = await openService({ connectString: target, basePath });
    const lease = await service.acquire('k');
    const waiting = rival.acquire('k').then((granted) => ({ granted, isHeld: lease.isHeld() }));
    proxy.refuse();
    proxy.disconnect();
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST' });
    expect((await waiting).isHeld).toBe(false);
  });
});
