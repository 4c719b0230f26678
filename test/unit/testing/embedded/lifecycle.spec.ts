import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LockConfigurationError } from '../../../../lib/contract/errors.js';
import { EmbeddedZooKeeper } from '../../../../lib/testing/index.js';
import { requestFrame } from '../../../../lib/zookeeper/wire/records.js';
import { setAcl } from '../../../conformance/wire/node-requests.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { openService } from '../../../support/services.js';
import { openClient } from '../../../support/znodes.js';
import { openRawSession } from './raw.js';
import { ANYONE, EMPTY, startServer } from './servers.js';

afterEach(() => vi.unstubAllEnvs());

describe('an embedded server', () => {
  it('serves on loopback under its connect string, and stops at the end of its block', async () => {
    let port: number;
    {
      await using zookeeper = await EmbeddedZooKeeper.start();
      ({ port } = zookeeper);
      expect(zookeeper.connectString).toBe(`127.0.0.1:${port}`);
      const locks = await openService({ connectString: zookeeper.connectString });
      expect(await locks.tryAcquire('k')).not.toBeNull();
    }
    const stranger = createServer().listen(port, '127.0.0.1');
    await once(stranger, 'listening');
    stranger.close();
  });

  it('says what it is', async () => {
    const lines: string[] = [];
    const zookeeper = await startServer({ log: (line) => lines.push(line) });
    expect(lines).toEqual([zookeeper.banner]);
    expect(zookeeper.banner).toMatch(/Embedded.*NOT FOR PRODUCTION.*127\.0\.0\.1:\d+/);
    expect(await zookeeper.ask('srvr')).toMatch(/^Zookeeper version: .*embedded/);
    expect(await zookeeper.ask('mntr')).toMatch(/^zk_version\t.*embedded/);
    expect(await zookeeper.ask('ruok')).toBe('imok');
  });

  it('logs when a session lasts longer than requested', async () => {
    const lines: string[] = [];
    const zookeeper = await startServer({ tickTimeMs: 2_000, log: (line) => lines.push(line) });
    await connectClient(zookeeper.connectString, { sessionTimeoutMs: 1_000 });
    expect(lines.join()).toMatch(/asked for 1000 ms and has 4000 ms/);
  });

  it('does not start in production, unless told so in so many words', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    await expect(EmbeddedZooKeeper.start()).rejects.toThrow(/NODE_ENV is "production"/);
    await using _allowed = await EmbeddedZooKeeper.start({ allowInProduction: true });
  });

  it.each([
    [{ port: -1 }, /port must be/],
    [{ tickTimeMs: 0 }, /tickTimeMs must be/],
    [{ minSessionTimeoutMs: 10, maxSessionTimeoutMs: 5 }, /maxSessionTimeoutMs must be/],
    [{ clock: 'sun' }, /clock must be/],
    // Greater values overflow Node's timers, which then fire at once, and the int of the protocol.
    [{ containerCheckIntervalMs: Infinity }, /containerCheckIntervalMs must be/],
    [{ minSessionTimeoutMs: 2 ** 31 }, /minSessionTimeoutMs must be/],
    // All addresses.
    [{ host: '' }, /host must be/],
    [{ ticktime: 5 }, /unknown field "ticktime"/],
  ])('names the wrong option: %o', async (options, complaint) => {
    const start = EmbeddedZooKeeper.start(options as object);
    await expect(start).rejects.toThrow(complaint);
    await expect(start).rejects.toBeInstanceOf(LockConfigurationError);
  });

  it('rejects when its port is taken', async () => {
    const stranger = createServer().listen(0, '127.0.0.1');
    await once(stranger, 'listening');
    const { port } = stranger.address() as AddressInfo;
    await expect(EmbeddedZooKeeper.start({ port })).rejects.toThrow(/EADDRINUSE/);
    stranger.close();
  });
});

describe('a restart', () => {
  it.each(['stop', 'kill'] as const)('after %s() finds the previous znodes and sessions', async (end) => {
    const zookeeper = await startServer();
    const { client, told, next } = await connectClient(zookeeper.connectString);
    const created = await client.create({ path: '/own', data: Buffer.from('x'), acl: ANYONE, mode: 1 });
    const { id } = zookeeper.sessions()[0]!;
    const gone = next('disconnected');
    await zookeeper[end]();
    await gone;
    const back = next('connected');
    await zookeeper.restart();
    await back;

    expect((await client.read('/own')).stat.czxid).toBe(created.czxid);
    expect(zookeeper.ownerOf('/own')).toBe(id);
    expect(told).not.toContain('ended');
  });

  it('is not needed between tests: reset() leaves the state of a fresh server', async () => {
    const zookeeper = await startServer();
    const { client, next } = await connectClient(zookeeper.connectString);
    const before = await client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    await client.create({ path: '/a/b', data: EMPTY, acl: ANYONE, mode: 1 });
    const ended = next('ended');
    zookeeper.reset();
    expect(await ended).toBe('expired');
    expect(zookeeper.paths()).toEqual(['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']);
    const again = await openClient(zookeeper.connectString);
    const after = await again.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    expect(after.czxid).toBeGreaterThan(before.czxid);
  });

  it('resets also the znodes that every server has, and those below them', async () => {
    const zookeeper = await startServer();
    const { client } = await connectClient(zookeeper.connectString);
    await client.multi([{ type: 'setData', path: '/', data: Buffer.from('x') }]);
    await client.create({ path: '/zookeeper/own', data: EMPTY, acl: ANYONE, mode: 0 });
    const { raw } = await openRawSession(zookeeper);
    const { type, body } = setAcl('/', [{ permissions: 1, scheme: 'world', id: 'anyone' }]);
    raw.write(requestFrame(1, type, body));
    await raw.next();
    const refused = client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    await expect(refused).rejects.toMatchObject({ code: -102 });
    zookeeper.reset();
    expect(zookeeper.paths()).toEqual(['/', '/zookeeper', '/zookeeper/config', '/zookeeper/quota']);
    expect(zookeeper.znode('/')?.data).toEqual(EMPTY);
    const again = await openClient(zookeeper.connectString);
    await again.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
  });

  it.each(['reset', 'heal', 'restart'] as const)('%s() ends a freeze: sessions expire again', async (thaw) => {
    const zookeeper = await startServer({ tickTimeMs: 100 });
    zookeeper.freeze();
    await zookeeper[thaw]();
    // The client sends nothing by itself.
    const client = await connectClient(zookeeper.connectString, { sessionTimeoutMs: 200 });
    expect(await client.next('ended')).toBe('expired');
  });

  it('of the whole process without its data ends the client’s session', async () => {
    const first = await EmbeddedZooKeeper.start({ tickTimeMs: 500 });
    const { client, next } = await connectClient(first.connectString);
    await client.create({ path: '/own', data: EMPTY, acl: ANYONE, mode: 1 });
    const ended = next('ended');
    await first.stop();
    await startServer({ port: first.port });
    expect(await ended).toBe('expired');
  });
});
