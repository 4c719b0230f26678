import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { DEFAULTS } from '../../lib/lock.options.js';
import { redis } from '../../lib/redis/index.js';
import { RedisSession } from '../../lib/redis/session/redis-session.js';
import { LockService } from '../../lib/service/lock.service.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { AnsweringProxy } from './support/answering-proxy.js';
import { clientsOf, hold, requestFor } from './support/clients.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** A client behind a proxy, and one that sees what the server has. */
async function setUp() {
  const proxy = await FaultProxy.open(server.port);
  onTestFinished(() => proxy.close());
  const open = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 20_000 });
  const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(server.url)];
  await Promise.all([one.connect(), other.connect()]);
  // The first run of a script takes two requests.
  const first = await hold(other, 'first', { mode: 'write' });
  await first.downgrade();
  await first.release();
  const modes = async (key: string) => (await other.lineOf(key)).map(({ mode }) => mode);
  /** Resolves when the server has made a reader, and its reply is lost. The proxy may read that reply late. */
  const lost = async (key: string) => {
    await expect.poll(() => modes(key), { interval: 5 }).toEqual(['read']);
    await expect.poll(() => proxy.hasLostReplies, { interval: 5 }).toBe(true);
  };
  return { proxy, one, other, modes, lost };
}

describe('a writer of Redis that becomes a reader', () => {
  it('and is released meanwhile: the key is free', async () => {
    const { one, other } = await setUp();
    const lease = await hold(one, 'k', { mode: 'write' });
    const downgraded = lease.downgrade();
    await Promise.all([lease.release(), downgraded]);
    expect(await other.lineOf('k')).toEqual([]);
    await hold(other, 'k', { mode: 'write', wait: false });
  });

  it('and is released by the reader before the writer has ended: the key is free', async () => {
    const settings = { url: server.url, basePath: 'test/downgrade', restartDelayMs: 0 };
    const options = { ...DEFAULTS, connectionName: 'default', waitMs: 10_000, drainTimeoutMs: 0 };
    const service = new LockService(redis(settings).create(), options);
    onTestFinished(() => service.onApplicationShutdown());
    await service.onModuleInit();
    const other = redis(settings).create();
    onTestFinished(() => other.close());
    for (let turn = 0; turn < 20; turn++) {
      const { read, write } = service.readWriteLock('k');
      const released = deferred();
      await write.using(async () => {
        const reader = await read.acquire();
        setImmediate(() => void reader.release().then(released.resolve));
      });
      await released.promise;
      const lease = await other.acquire(requestFor('k', { mode: 'write', wait: false }));
      expect(lease).not.toBeNull();
      await lease?.release();
      expect(await other.lineOf('k')).toEqual([]);
    }
  });

  it('and whose answer is lost, before it is released: the key is free', async () => {
    const { proxy, one, other, lost } = await setUp();
    const lease = await hold(one, 'k', { mode: 'write' });
    proxy.swallowReplies();
    const downgraded = lease.downgrade();
    await lost('k');
    const released = lease.release();
    proxy.heal();
    await Promise.all([downgraded, released]);
    const next = await hold(other, 'k', { mode: 'write' });
    expect(next.isHeld()).toBe(true);
  });

  it('and whose answer is lost: it is held on', async () => {
    const { proxy, one, modes, lost } = await setUp();
    const lease = await hold(one, 'k', { mode: 'write' });
    const looked: string[] = [];
    const { run } = RedisSession.prototype;
    const spy = vi.spyOn(RedisSession.prototype, 'run').mockImplementation(async function (
      this: RedisSession,
      ...call
    ) {
      const answer = await run.apply(this, call);
      looked.push(call[0].name);
      return answer;
    });
    onTestFinished(() => spy.mockRestore());
    proxy.swallowReplies();
    const downgraded = lease.downgrade();
    await lost('k');
    proxy.heal();
    await downgraded;
    await expect.poll(() => looked).toContain('LOOK');
    await expect.poll(() => [lease.state, lease.mode]).toEqual(['held', 'read']);
    await lease.release();
    expect(await modes('k')).toEqual([]);
  });

  it('and whose server refuses it: remains a writer, and a line says so', async () => {
    const proxy = await AnsweringProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const client = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 20_000 })(proxy.url);
    const warnings: string[] = [];
    client.logTo?.({ log() {}, warn: (message) => warnings.push(message) });
    const lease = await hold(client, 'k', { mode: 'write' });
    proxy.refuse("OOM command not allowed when used memory > 'maxmemory'.", 'EVALSHA');
    await lease.downgrade();
    proxy.heal();
    expect([lease.state, lease.mode]).toEqual(['held', 'write']);
    const refused = '"k": a writer could not become a reader, and keeps readers out: OOM command not allowed';
    expect(warnings).toEqual([expect.stringContaining(refused)]);
    await lease.release();
  });

  it('and whose server is replaced meanwhile: the next session adopts a reader', async () => {
    const { proxy, one, other, modes, lost } = await setUp();
    const lease = await hold(one, 'k', { mode: 'write' });
    proxy.swallowReplies();
    const downgraded = lease.downgrade();
    await lost('k');
    // A server that is promoted is another one, here with the data of the former.
    await server.ask('REPLICAOF', '127.0.0.1', '1');
    await server.ask('REPLICAOF', 'NO', 'ONE');
    proxy.heal();
    await downgraded;
    await expect.poll(() => [lease.state, lease.mode]).toEqual(['held', 'read']);
    await hold(other, 'k', { mode: 'read' });
    expect(await modes('k')).toEqual(['read', 'read']);
    await lease.release();
    expect(await modes('k')).toEqual(['read']);
  });
});
