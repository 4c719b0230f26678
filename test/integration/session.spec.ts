import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { blockEventLoop } from '../support/block-event-loop.js';
import { eventually } from '../support/eventually.js';
import { LeaseChanges } from '../support/lease-changes.js';
import { lost } from '../support/lost.js';
import { unusedPort } from '../support/unused-port.js';
import { closeService, openService } from '../support/services.js';
import { openClient, untilContenders } from '../support/znodes.js';

const SESSION_MS = 1_000;

describe('without a server', () => {
  it('does not start when a connection is required', async () => {
    const connectString = `127.0.0.1:${await unusedPort()}`;
    const start = performance.now();
    await expect(openService({ connectString, connectTimeoutMs: 300 })).rejects.toMatchObject({
      name: 'LockUnavailableError',
      status: 503,
      message: expect.stringMatching(/no ZooKeeper server answered within 300 ms.*ECONNREFUSED/),
    });
    expect(performance.now() - start).toBeGreaterThanOrEqual(295);
  });

  it('starts in the background, refuses requests, and serves once a server is available', async () => {
    const port = await unusedPort();
    const service = await openService({
      connectString: `127.0.0.1:${port}`,
      basePath: freshBasePath(),
      connectTimeoutMs: 300,
      connectOnStart: 'background',
    });
    await expect(service.acquire('k')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    await expect(service.tryAcquire('k', { waitMs: 50 })).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
    expect(service.state).toBe('suspended');

    await using server = await ZooKeeperServer.start({ port });
    expect(server.port).toBe(port);
    const lease = await eventually(
      () => service.acquire('k').catch(() => undefined),
      'an acquisition after the server appeared',
    );
    expect(lease.isHeld()).toBe(true);
    await closeService(service);
  });

  it('reacts to an abort at once', async () => {
    const connectString = `127.0.0.1:${await unusedPort()}`;
    const service = await openService({ connectString, connectOnStart: 'background' });
    const waiting = service.acquire('k', { signal: AbortSignal.timeout(20) });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('closes at once', async () => {
    const connectString = `127.0.0.1:${await unusedPort()}`;
    const service = await openService({ connectString, connectOnStart: 'background' });
    const waiting = expect(service.acquire('k')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    await closeService(service);
    await waiting;
  });
});

describe('a session', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ tickTimeMs: SESSION_MS / 2 });
    return () => server.stop();
  });

  const open = (basePath: string, sessionTimeoutMs = SESSION_MS) =>
    openService({ connectString: server.connectString, basePath, sessionTimeoutMs, waitMs: 30_000 });

  it('finds a server among several in the connect string', async () => {
    const dead = `127.0.0.1:${await unusedPort()}`;
    const service = await openService({
      connectString: `${dead},${server.connectString}/chroot/of/ours`,
      basePath: freshBasePath(),
    });
    expect((await service.acquire('k')).isHeld()).toBe(true);
  });

  it('keeps its lease while it is idle for longer than its timeout', async () => {
    // Long enough for a heartbeat that is late on a busy machine.
    const timeoutMs = 5 * SESSION_MS;
    const service = await open(freshBasePath(), timeoutMs);
    const lease = await service.acquire('k');
    const quiet = new Promise((resolve) => setTimeout(resolve, 1.2 * timeoutMs, 'quiet'));
    expect(await Promise.race([lost(lease), quiet])).toBe('quiet');
    expect(lease.isHeld()).toBe(true);
  });

  it('loses its leases on its own clock without a server, and recovers with one', async () => {
    const basePath = freshBasePath();
    // Long enough for the process to notice the server's end before the time is up, also on a busy machine.
    const service = await open(basePath, 4 * SESSION_MS);
    const lease = await service.acquire('k');
    const changes = new LeaseChanges(lease);

    await server.kill();
    expect(await changes.first('suspended')).toEqual({ state: 'suspended', isHeld: true });

    expect(await lost(lease)).toMatchObject({ code: 'LOCK_LOST', key: 'k' });
    expect([lease.state, lease.isHeld()]).toEqual(['lost', false]);
    await lease.release();

    await server.restart();
    const next = await service.acquire('k');
    expect(next.isHeld()).toBe(true);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('knows after a stall, before any event, that its leases may be gone', async () => {
    const basePath = freshBasePath();
    const [stalled, other] = await Promise.all([open(basePath), open(basePath)]);
    const lease = await stalled.acquire('k');
    const client = await openClient(server.connectString);

    blockEventLoop(2.5 * SESSION_MS);

    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST' });
    await lease.release();
    await untilContenders(client, `${basePath}/k`, 0);
    expect((await other.acquire('k')).isHeld()).toBe(true);
    expect(await stalled.tryAcquire('k')).toBeNull();
  });

  it('queues a waiter again after the expiry of its session', async () => {
    const basePath = freshBasePath();
    const [one, other] = await Promise.all([open(basePath), open(basePath)]);
    const client = await openClient(server.connectString);
    await one.acquire('k');
    const waiting = other.acquire('k');
    await untilContenders(client, `${basePath}/k`, 2);

    blockEventLoop(2.5 * SESSION_MS);

    const lease = await waiting;
    expect(lease.isHeld()).toBe(true);
  });

  it('deletes its znodes when it is closed', async () => {
    const basePath = freshBasePath();
    const service = await open(basePath);
    const client = await openClient(server.connectString);
    await service.acquire('k');
    await closeService(service);
    expect(await untilContenders(client, `${basePath}/k`, 0)).toEqual([]);
    await expect(service.acquire('k')).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    onTestFinished(() => closeService(service));
  });
});
