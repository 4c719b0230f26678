import { describe, expect, inject, it } from 'vitest';
import type { Socket } from 'node:net';
import { freshBasePath } from '../../support/base-path.js';
import { eventually } from '../../support/eventually.js';
import { openService } from '../../support/services.js';
import { openFakeServer } from './support/fake-server.js';
import { untilState } from './support/leases.js';
import { connectClient, makeClient } from './support/observed-client.js';
import type { ObservedClient } from './support/observed-client.js';
import { driverInstances } from './support/driver-instances.js';
import { openProxy } from './support/open-proxy.js';
import { EPHEMERAL, makePlain, openPlain, plainDriver, plainly } from './support/plain-client.js';
import type { PlainClient } from './support/plain-client.js';

const target = inject('zookeeper');
const AUTH = 'user:secret';
const CREATOR = [{ permissions: 31, scheme: 'auth', id: '' }];

const plainCreate = (plain: PlainClient) =>
  plainly<string>((done) =>
    plain.create(freshBasePath(), Buffer.alloc(0), plainDriver.ACL.CREATOR_ALL_ACL, EPHEMERAL, done),
  );
const create = ({ client }: ObservedClient) =>
  client.create({ path: freshBasePath(), data: Buffer.alloc(0), acl: CREATOR, mode: 1 });

const hangUpOnHandshake = (socket: Socket) => void socket.once('data', () => socket.destroy());

describe('the plain driver', () => {
  it('sends requests made before the first connection ahead of its credentials', async () => {
    const plain = makePlain(target);
    plain.addAuthInfo('digest', Buffer.from(AUTH));
    plain.connect();
    await expect(plainCreate(plain)).rejects.toMatchObject({ name: 'INVALID_ACL' });
  });

  it('sends requests made while disconnected ahead of its credentials', async () => {
    const proxy = await openProxy(target);
    const plain = await openPlain(proxy.connectString);
    plain.addAuthInfo('digest', Buffer.from(AUTH));
    await plainCreate(plain);
    const asked = new Promise((resolve) => plain.on('disconnected', () => resolve(plainCreate(plain))));
    proxy.disconnect();
    await expect(asked).rejects.toMatchObject({ name: 'INVALID_ACL' });
  });

  it('accumulates its credentials while the server hangs up after accepting', async () => {
    const server = await openFakeServer({ greet: hangUpOnHandshake });
    const plain = makePlain(server.connectString);
    plain.addAuthInfo('digest', Buffer.from(AUTH));
    plain.connect();
    await eventually(() => server.accepted > 5 || undefined, 'five attempts');
    expect(plain.connectionManager.packetQueue.queue.length).toBeGreaterThanOrEqual(5);
  });
});

describe('a client with credentials', () => {
  it('has presented them when it reports the first connection', async () => {
    const observed = makeClient(target, { auth: AUTH });
    const created = new Promise((resolve) => observed.on('connected', () => resolve(create(observed))));
    observed.client.connect();
    await expect(created).resolves.toMatchObject({ path: expect.any(String) });
  });

  it('has presented them when it reports every later connection', async () => {
    const proxy = await openProxy(target);
    const observed = await connectClient(proxy.connectString, { auth: AUTH });
    for (let round = 0; round < 10; round++) {
      const created = new Promise((resolve) => observed.on('connected', () => resolve(create(observed))));
      proxy.disconnect(round % 2 === 0 ? 'rst' : 'fin');
      await expect(created).resolves.toMatchObject({ path: expect.any(String) });
    }
    expect(observed.told).not.toContain('ended');
  });

  it('does not send requests that were made before that', async () => {
    const proxy = await openProxy(target);
    const observed = await connectClient(proxy.connectString, { auth: AUTH });
    const asked = new Promise((resolve) => observed.on('disconnected', () => resolve(create(observed))));
    proxy.disconnect();
    await expect(asked).rejects.toMatchObject({ isConnectionLoss: true });
  });

  it('accumulates nothing while the server hangs up after accepting', async () => {
    const server = await openFakeServer({ greet: hangUpOnHandshake });
    const managers = driverInstances();
    makeClient(server.connectString, { auth: AUTH }).client.connect();
    await eventually(() => server.accepted > 5 || undefined, 'five attempts');
    expect(managers).toHaveLength(1);
    expect(managers[0]!.packetQueue.queue.length).toBeLessThanOrEqual(1);
  });

  it('ends when they are refused, without reporting a connection', async () => {
    const observed = makeClient(target, { scheme: 'nonsense', auth: AUTH });
    const ended = observed.next('ended');
    observed.client.connect();
    expect([await ended, observed.told]).toEqual(['authentication failed', ['ended']]);
    await expect(create(observed)).rejects.toMatchObject({ isConnectionLoss: true });
  });
});

describe('a service with credentials', () => {
  it('acquires, waits and releases with protected znodes, across reconnects', async () => {
    const proxy = await openProxy(target);
    const basePath = freshBasePath();
    const auth = { scheme: 'digest', credentials: AUTH };
    const service = await openService({ connectString: proxy.connectString, basePath, auth });
    const lease = await service.acquire('held');
    for (let round = 0; round < 5; round++) {
      proxy.disconnect();
      await service.using(`key-${round}`, () => {});
      await service.mutex('single', { line: 'none' }).using(() => {});
    }
    await untilState(lease, 'held');
    await lease.release();
    expect((await service.acquire('held')).isHeld()).toBe(true);
  });
});
