import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { DEFAULTS } from '../../lib/lock.options.js';
import { redis } from '../../lib/redis/index.js';
import { ACQUIRE, LEAVE } from '../../lib/redis/scripts/lock-scripts.js';
import { LockService } from '../../lib/service/lock.service.js';
import { RedisServer } from '../../lib/testing/index.js';
import { clientsOf, hold } from './support/clients.js';

/** So long that no renewal and no look falls into a test. */
const SESSION_MS = 600_000;

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Returns how often the server has run a command, also inside scripts. */
async function callsOf(command: string): Promise<number> {
  const stats = await server.ask('INFO', 'commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
}

/** Opens clients whose scripts the server knows. */
async function openClients(count: number): Promise<readonly LockBackend[]> {
  const open = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: SESSION_MS });
  const clients = Array.from({ length: count }, () => open(server.url));
  for (const client of clients) await (await hold(client, 'warm-up')).release();
  return clients;
}

/** Returns the texts of all writes of several requests, from now until the end of the test. */
function gatheredWrites(): readonly string[] {
  const writes: string[] = [];
  const { _writev: writev } = Socket.prototype;
  if (!writev) throw new Error('sockets gather no writes');
  const spy = vi.spyOn(Socket.prototype, '_writev').mockImplementation(function (this: Socket, chunks, done) {
    writes.push(chunks.map(({ chunk }) => String(chunk)).join(''));
    writev.call(this, chunks, done);
  });
  onTestFinished(() => spy.mockRestore());
  return writes;
}

describe('the cost of a grant for the server', () => {
  it('a free key: two scripts, and no message', async () => {
    const [client] = await openClients(1);
    const before = [await callsOf('evalsha'), await callsOf('publish')];
    for (let grant = 0; grant < 20; grant++) await (await hold(client!, 'free')).release();
    expect([await callsOf('evalsha'), await callsOf('publish')]).toEqual([before[0]! + 40, before[1]]);
  });

  it('a key that four processes want: two scripts, and one message for each grant to another one', async () => {
    const clients = await openClients(4);
    const before = await callsOf('evalsha');
    const messages = await callsOf('publish');
    const rounds = 25;
    const work = async (client: LockBackend) => {
      for (let round = 0; round < rounds; round++) await (await hold(client, 'wanted')).release();
    };
    await Promise.all(clients.map(work));
    const grants = clients.length * rounds;
    expect(await callsOf('evalsha')).toBe(before + 2 * grants);
    // A grant, and to its holder the first entry that waits behind it.
    expect((await callsOf('publish')) - messages).toBeLessThanOrEqual(2 * grants);
  });

  it('a release and the next request of one process: one write', async () => {
    const [client] = await openClients(1);
    const lease = await hold(client!, 'next');
    const writes = gatheredWrites();
    const [, next] = await Promise.all([lease.release(), hold(client!, 'next')]);
    await next.release();
    const isBoth = (write: string) => write.includes(LEAVE.sha) && write.includes(ACQUIRE.sha);
    expect(writes.filter(isBoth)).toHaveLength(1);
  });

  it('many requests of one turn: sixteen in each write', async () => {
    const [client] = await openClients(1);
    const writes = gatheredWrites();
    const leases = await Promise.all(Array.from({ length: 40 }, (_, one) => hold(client!, `many/${one}`)));
    expect(writes.map((write) => write.split(ACQUIRE.sha).length - 1)).toEqual([16, 16, 8]);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('a thousand callers of one process: one entry, and no script for a hand-over among them', async () => {
    const [holder] = await openClients(1);
    const basePath = 'test/thousand';
    const settings = { url: server.url, basePath, restartDelayMs: 0, sessionTimeoutMs: SESSION_MS };
    const other = redis(settings).create();
    onTestFinished(() => other.close());
    expect(holder).toBeDefined();
    const options = { ...DEFAULTS, connectionName: 'default', waitMs: 60_000, drainTimeoutMs: 0 };
    const service = new LockService(redis(settings).create(), options);
    onTestFinished(() => service.onApplicationShutdown());
    await service.onModuleInit();
    const lease = await hold(other, 'crowd');
    let served = 0;
    const callers = Array.from({ length: 1_000 }, () => service.using('crowd', () => ++served));
    const waiting = () => server.ask('LLEN', `{${basePath}}:w:lock:crowd`);
    await expect.poll(waiting, { timeout: 30_000 }).toBe(':1\r\n');
    const before = await callsOf('evalsha');
    await lease.release();
    await Promise.all(callers);
    expect(served).toBe(1_000);
    // The release of before, and that of the process after its last caller.
    expect((await callsOf('evalsha')) - before).toBeLessThanOrEqual(4);
  });
});
