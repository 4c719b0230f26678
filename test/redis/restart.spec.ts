import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { NEVER } from '../../lib/async/abort.js';
import type { Barriers } from '../../lib/contract/coordination-backend.js';
import { redis } from '../../lib/redis/index.js';
import { ENTER, INSIDE } from '../../lib/redis/scripts/coordination-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import type { RedisServerOptions } from '../../lib/testing/index.js';
import { lost } from '../support/lost.js';
import { clientsOf, hold, requestFor, SESSION_MS, settlingSeenBy } from './support/clients.js';
import { linkTo, ScriptSession } from './support/script-session.js';

let open: ReturnType<typeof clientsOf>;

beforeEach(() => {
  open = clientsOf({});
});

async function start(settings: RedisServerOptions['settings'] = {}): Promise<RedisServer> {
  const server = await RedisServer.start({ settings });
  onTestFinished(() => server.stop());
  return server;
}

/** The server comes back within the session, also on a busy machine. */
const TIMES = { sessionTimeoutMs: 3 * SESSION_MS, restartDelayMs: SESSION_MS };
const AOF = { appendonly: 'yes', appendfsync: 'always' };

it('a server that comes back leaves a holder its key whose connection was given with numbers as text', async () => {
  const server = await start();
  const connection = new Redis(server.url, { lazyConnect: true, stringNumbers: true });
  // The server comes back within the session, also on a busy machine.
  const client = redis({ connection, sessionTimeoutMs: 2 * SESSION_MS }).create();
  onTestFinished(() => client.close());
  const lease = await hold(client, 'k');
  await server.kill();
  await server.restart();
  await expect.poll(async () => (await client.lineOf('k')).map(({ state }) => state)).toEqual(['held']);
  expect(lease.isHeld()).toBe(true);
});

describe.each([
  ['without its data', {}],
  ['with its data', AOF],
])('a server that is killed and comes back %s', (_how, settings) => {
  it('leaves every holder its key, and hands over to those that wait', async () => {
    const server = await start(settings);
    const [one, other] = [open(server.url, TIMES), open(server.url, TIMES)];
    const lease = await hold(one, 'k');
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await one.lineOf('k')).length).toBe(2);
    await server.kill();
    await server.restart();
    await expect.poll(() => [one.state, other.state, lease.state]).toEqual(['connected', 'connected', 'held']);
    await expect.poll(async () => (await one.lineOf('k')).map(({ state }) => state)).toEqual(['held', 'waiting']);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('grants no free key before every lease of before is over', async () => {
    const server = await start(settings);
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(server.url)];
    const lease = await hold(one, 'k');
    await other.connect();
    await server.kill();
    proxy.refuse();
    await server.restart();
    // The holder cannot reach the server, and goes on until its deadline.
    const next = await hold(other, 'k');
    expect(lease.isHeld()).toBe(false);
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    proxy.heal();
    await expect.poll(() => one.state).toBe('connected');
  });

  it('keeps readers beside readers, and writers out', async () => {
    const server = await start(settings);
    const [one, other] = [open(server.url, TIMES), open(server.url, TIMES)];
    const readers = [await hold(one, 'k', { mode: 'read' }), await hold(other, 'k', { mode: 'read' })];
    await server.kill();
    await server.restart();
    await expect.poll(() => readers.map(({ state }) => state)).toEqual(['held', 'held']);
    const writer = hold(one, 'k', { mode: 'write' });
    await readers[0]?.release();
    await readers[1]?.release();
    const lease = await writer;
    expect(readers.every(({ fencingToken }) => fencingToken < lease.fencingToken)).toBe(true);
  });
});

it('a server that comes back without its data lets no member out of a double barrier before the others', async () => {
  const server = await start();
  // The server comes back within the session, also on a busy machine.
  const clients = clientsOf({ basePath: 'test', sessionTimeoutMs: 2 * SESSION_MS });
  const all = [clients(server.url), clients(server.url)].map((client) => client.coordination?.barriers as Barriers);
  const request = { key: 'b', count: 2, signal: NEVER };
  const [first, second] = await Promise.all(all.map((barriers) => barriers.enter(request)));
  const left = first?.leave(NEVER).then(() => second?.lease.isHeld());
  await expect.poll(() => server.ask('HLEN', '{test}:members:b')).toBe(':1\r\n');
  await server.kill();
  await server.restart();
  expect(await left).toBe(false);
});

describe('a server that settles', () => {
  it('knows the members of a double barrier that have entered on it, and not those of another server', async () => {
    const server = await start();
    const [link, keys] = [await linkTo(server.url), new RedisKeys('test/inside')];
    const session = await new ScriptSession(link, keys).join({ settles: true });
    const members = [keys.of('members', 'b')];
    await session.run(ENTER, members, 1, 1);
    const inside = ['INSIDE', expect.any(Number), `${session.id}|1`];
    expect(await session.run(INSIDE, members, 1, session.server)).toEqual(inside);
    expect(await session.run(INSIDE, members, 1, 'another')).toEqual(['SETTLING', expect.any(Number)]);
  });

  it('grants nothing to a call that does not wait, and the error says for how long', async () => {
    const server = await start();
    const client = open(server.url, { sessionTimeoutMs: 60_000, connectTimeoutMs: 1_000 });
    await expect(client.acquire(requestFor('k', { wait: false }))).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      key: 'k',
      message: expect.stringMatching(
        /^"k": the Redis server is new, or was restarted or promoted, and grants no free key for another [56]\d{4} ms$/,
      ) as unknown,
    });
    const plain = open(server.url, { sessionTimeoutMs: 60_000, connectTimeoutMs: 1_000, plainLocks: true });
    const refused = plain.acquire(requestFor('/k', { line: 'none', wait: false }));
    await expect(refused).rejects.toThrow('"/k": the Redis server is new');
    const sets = client.acquireAll?.([requestFor('a', { wait: false }), requestFor('b', { wait: false })]);
    await expect(sets).rejects.toThrow('"a": the Redis server is new');
  });
});

describe('a server that is new', () => {
  it('that has run for longer than a session: grants at once', async () => {
    const server = await start();
    const first = open(server.url);
    const settling = settlingSeenBy(first);
    await hold(first, 'settled');
    expect(settling).toHaveLength(1);
    const fresh = clientsOf({})(server.url);
    const stillSettling = settlingSeenBy(fresh);
    await hold(fresh, 'k');
    expect(stillSettling).toEqual([]);
  });

  it('that has just started: a request that may not wait waits until free keys are granted', async () => {
    const server = await start();
    expect((await open(server.url).acquire(requestFor('k', { wait: false })))?.isHeld()).toBe(true);
  });

  it('that does not settle in time: a request that may not wait fails with the reason', async () => {
    const server = await start();
    const client = open(server.url, { connectTimeoutMs: 200 });
    await client.connect();
    await expect(client.acquire(requestFor('k', { wait: false }))).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  });
});

describe('data that are removed', () => {
  it('by FLUSHALL: holders keep their keys, and tokens grow', async () => {
    const server = await start();
    const [one, other] = [open(server.url, TIMES), open(server.url, TIMES)];
    const lease = await hold(one, 'k');
    await other.connect();
    await server.ask('FLUSHALL');
    const waiting = hold(other, 'k');
    await expect.poll(async () => (await one.lineOf('k')).map(({ state }) => state)).toEqual(['held', 'waiting']);
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken);
  });

  it('by the removal of one last token: tokens grow', async () => {
    const server = await start();
    const client = open(server.url);
    const tokens: bigint[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const lease = await hold(client, 'k');
      tokens.push(lease.fencingToken);
      await lease.release();
      const [, key = ''] = (await server.ask('KEYS', '*:t:lock:k'))
        .split('\r\n')
        .filter((line) => line.startsWith('{'))
        .reverse();
      await server.ask('DEL', key || '{none}');
    }
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('by SCRIPT FLUSH: requests go on', async () => {
    const server = await start();
    const client = open(server.url);
    const lease = await hold(client, 'k');
    await server.ask('SCRIPT', 'FLUSH');
    await lease.release();
    expect((await hold(client, 'k')).isHeld()).toBe(true);
  });
});

describe('a holder that was lost', () => {
  it('by an end of the session is not adopted', async () => {
    const server = await start();
    await (await hold(open(server.url), 'settled')).release();
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(server.url)];
    const lease = await hold(one, 'k');
    proxy.blackHole();
    await lost(lease);
    const next = await hold(other, 'k');
    await server.kill();
    await server.restart();
    proxy.disconnect();
    proxy.heal();
    await expect.poll(() => [one.state, next.state]).toEqual(['connected', 'held']);
    expect(lease.isHeld()).toBe(false);
    await expect.poll(async () => (await other.lineOf('k')).length).toBe(1);
    expect(await other.lineOf('k')).toMatchObject([{ isOwn: true }]);
  });
});
