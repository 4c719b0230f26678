import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Heartbeat } from '../../lib/etcd/session/heartbeat.js';
import { EtcdServer, FaultProxy } from '../../lib/testing/index.js';
import {
  clientsOf,
  compact,
  hold,
  keysBelow,
  lossOf,
  requestFor,
  revokeLease,
  revokeLeaseOf,
  write,
} from './support/clients.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

async function setUp() {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const { open, basePath } = clientsOf();
  const one = open(proxy.connectString);
  await one.connect();
  const other = open(server.host);
  await other.connect();
  return { proxy, one, other, open, basePath };
}

describe('a wait queue', () => {
  it('is read again when the server has forgotten the changes that a link has missed', async () => {
    const { proxy, one, other } = await setUp();
    const first = await hold(other, 'k');
    const waiting = hold(one, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    proxy.refuse();
    proxy.disconnect();
    await expect.poll(() => one.state).toBe('suspended');
    await first.release();
    await write(server, 'elsewhere', '1');
    await compact(server);
    proxy.heal();
    expect((await waiting).fencingToken).toBeGreaterThan(first.fencingToken);
  });
});

describe('a lease that an operator revokes', () => {
  it('is lost before its time, and the next session is granted the key again', async () => {
    const { open, basePath } = clientsOf({ sessionTimeoutMs: 30_000 });
    const client = open(server.host);
    const lease = await hold(client, 'k');
    const lost = lossOf(lease);
    const since = performance.now();
    await revokeLease(server, basePath);
    expect((await lost) - since).toBeLessThan(15_000);
    expect(lease.isHeld()).toBe(false);
    const next = await hold(client, 'k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('sends waits to the end of the queue, in the next session', async () => {
    const { open, basePath } = clientsOf();
    const [one, other] = [open(server.host), open(server.host)];
    const first = await hold(other, 'k');
    const waiting = hold(one, 'k');
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(2);
    await revokeLeaseOf(server, `${basePath}/lock/k//`, 'last');
    await first.release();
    expect((await waiting).isHeld()).toBe(true);
  });
});

describe('close()', () => {
  it('leaves no key of the session', async () => {
    const { one, other, basePath } = await setUp();
    await hold(one, 'k');
    const waiting = other.acquire(requestFor('k')).catch((error: unknown) => error);
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    await Promise.all([other.close(), one.close()]);
    expect(await waiting).toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(await keysBelow(server, `${basePath}/`)).toEqual([]);
  });
});

describe('servers that are out of reach, after they have said that the session is over', () => {
  it('do not keep a request whose caller gives up', async () => {
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const { open, basePath } = clientsOf();
    const client = open(proxy.connectString);
    await (await hold(client, 'k')).release();
    const { hurry } = Heartbeat.prototype;
    const doubted = new Promise<void>((resolve) => {
      const spy = vi.spyOn(Heartbeat.prototype, 'hurry').mockImplementation(function (this: Heartbeat) {
        proxy.blackHole();
        hurry.call(this);
        resolve();
      });
      onTestFinished(() => spy.mockRestore());
    });
    await revokeLease(server, basePath);
    const leaving = new AbortController();
    const asked = client.acquire(requestFor('k', { signal: leaving.signal }));
    await doubted;
    const reason = new Error('gave up');
    leaving.abort(reason);
    await expect(asked).rejects.toBe(reason);
  });
});
