import { describe, expect, inject, it } from 'vitest';
import { freshBasePath } from '../../support/base-path.js';
import { openService } from '../../support/services.js';
import { lost } from './support/leases.js';
import { openForgetfulProxy } from './support/forgetful-proxy.js';
import { connectClient } from './support/observed-client.js';
import { createEphemeral } from './support/open-session.js';
import { serverHas, untilGone } from './support/outside.js';
import { EPHEMERAL, openPlain, plainly, said } from './support/plain-client.js';

const target = inject('zookeeper');

describe('the plain driver, when it gets another session than it asked for', () => {
  it('reports a connection, but not that its znodes will be gone', async () => {
    const proxy = await openForgetfulProxy(target);
    const plain = await openPlain(proxy.connectString, { sessionTimeout: 1_000 });
    const path = freshBasePath();
    await plainly<string>((done) => plain.create(path, Buffer.alloc(0), EPHEMERAL, done));
    const before = Buffer.from(plain.connectionManager.sessionId);
    let hasExpired = false;
    plain.on('expired', () => (hasExpired = true));
    const again = said(plain, 'connected');
    proxy.forget();
    proxy.disconnect();
    await again;
    await untilGone(target, path);
    expect([plain.getState().name, hasExpired]).toEqual(['SYNC_CONNECTED', false]);
    expect(plain.connectionManager.sessionId).not.toEqual(before);
  });
});

describe('a client that gets another session than it asked for', () => {
  it('reports the end of its own session, and does not use the other', async () => {
    const proxy = await openForgetfulProxy(target);
    const { client, told, next } = await connectClient(proxy.connectString);
    await createEphemeral(client, freshBasePath());
    const ended = next('ended');
    proxy.forget();
    proxy.disconnect();
    expect(await ended).toBe('replaced by the server');
    expect(told).toEqual(['connected', 'disconnected', 'ended']);
    const late = freshBasePath();
    await expect(createEphemeral(client, late)).rejects.toMatchObject({ isConnectionLoss: true });
    expect(await serverHas(target, late)).toBe(false);
  });

  it('does the same with credentials', async () => {
    const proxy = await openForgetfulProxy(target);
    const { next, told } = await connectClient(proxy.connectString, { auth: 'user:secret' });
    const ended = next('ended');
    proxy.forget();
    proxy.disconnect();
    expect(await ended).toBe('replaced by the server');
    expect(told).toEqual(['connected', 'disconnected', 'ended']);
  });
});

describe('a service that gets another session than it asked for', () => {
  it('loses its leases at once, and acquires again behind its old znodes', async () => {
    const proxy = await openForgetfulProxy(target);
    const basePath = freshBasePath();
    const service = await openService({ connectString: proxy.connectString, basePath });
    const lease = await service.acquire('k');
    proxy.forget();
    proxy.disconnect();
    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST', message: expect.stringContaining('replaced') });
    expect(lease.isHeld()).toBe(false);

    const next = await service.acquire('k');

    expect(next.isHeld()).toBe(true);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });
});
