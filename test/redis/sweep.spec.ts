import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ACQUIRE } from '../../lib/redis/scripts/lock-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import type { QueueKind } from '../../lib/redis/session/redis-keys.js';
import type { Answer, RedisSession } from '../../lib/redis/session/redis-session.js';
import { sweep } from '../../lib/redis/session/sweep.js';
import { SWEEP } from '../../lib/redis/scripts/sweep-scripts.js';
import { RedisServer } from '../../lib/testing/index.js';
import { linkTo, ScriptSession } from './support/script-session.js';

const DEAD = 'x|dead|1|1|1|0|';

let server: RedisServer;
let keys: RedisKeys;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

beforeEach(() => {
  keys = new RedisKeys(`test/[${randomUUID()}]`);
});

async function join(options?: { settles: boolean }): Promise<ScriptSession> {
  return new ScriptSession(await linkTo(server.url), keys).join(options);
}

/** @param refused the name of a script that the server refuses */
function sweepBy(session: ScriptSession, refused?: string): Promise<void> {
  const run: RedisSession['run'] = async (script, names, values) => {
    if (script.name === refused) throw new Error('refused');
    return (await session.run(script, names, ...(typeof values === 'function' ? values(false) : values))) as Answer;
  };
  return sweep({ keys, run });
}

const hasDied = (kind: QueueKind, key: string, of = keys) => server.ask('ZADD', of.queue(kind, key)[0], '5', DEAD);
const exists = async (name: string) => (await server.ask('EXISTS', name)) === ':1\r\n';
const turnMs = async () => Number((await server.ask('PTTL', keys.of('sweep', ''))).slice(1));

it('a sweep removes the entries of dead processes, and no others', async () => {
  const session = await join();
  const [held, waiting, shared, behind] = ['held', 'waiting', 'shared', 'behind'].map((key) => keys.queue('lock', key));
  await session.run(ACQUIRE, held!, '0', '0', session.entry());
  await session.run(ACQUIRE, held!, '1', '0', session.entry());
  for (const kind of ['lock', 'permits', 'election', 'put', 'take'] as const) await hasDied(kind, 'once');
  await server.ask('RPUSH', waiting![1], DEAD);
  const waits = session.entry();
  await server.ask('RPUSH', behind![1], waits, DEAD, DEAD);
  const own = session.entry().replace('x', 'r');
  await server.ask('ZADD', shared![0], '5', DEAD.replace('x', 'r'), '6', own);

  await sweepBy(session);

  for (const kind of ['lock', 'permits', 'election', 'put', 'take'] as const) {
    expect(await exists(keys.queue(kind, 'once')[0])).toBe(false);
  }
  expect(await exists(waiting![1])).toBe(false);
  expect(await server.ask('LRANGE', behind![1], '0', '-1')).toBe(`*1\r\n$${waits.length}\r\n${waits}\r\n`);
  expect(await server.ask('ZRANGE', shared![0], '0', '-1')).toBe(`*1\r\n$${own.length}\r\n${own}\r\n`);
  expect([await exists(held![0]), await exists(held![1])]).toEqual([true, true]);
});

it('entries of another base path are left alone, also when the name of this one is a pattern that it matches', async () => {
  const id = randomUUID();
  keys = new RedisKeys(`test/[${id}]*`);
  const neighbours = [`test/[${id}]*2`, `test/${id[0]}`].map((basePath) => new RedisKeys(basePath));
  for (const of of neighbours) await hasDied('lock', id, of);
  await sweepBy(await join());
  for (const of of neighbours) expect(await exists(of.queue('lock', id)[0])).toBe(true);
});

it('one process sweeps in an hour', async () => {
  const [one, other] = [await join(), await join()];
  await sweepBy(one);
  await hasDied('lock', 'k');
  for (const session of [one, other]) await sweepBy(session);
  expect(await exists(keys.queue('lock', 'k')[0])).toBe(true);
  expect(await turnMs()).toBeGreaterThan(3_000_000);
});

it('a sweep that fails leaves its turn after ten minutes, and to its own process at once', async () => {
  const [one, other] = [await join(), await join()];
  await hasDied('lock', 'k');
  await expect(sweepBy(one, 'SWEEP')).rejects.toThrow('refused');
  await sweepBy(other);
  expect(await exists(keys.queue('lock', 'k')[0])).toBe(true);
  expect(await turnMs()).toBeGreaterThan(0);
  expect(await turnMs()).toBeLessThanOrEqual(600_000);
  await sweepBy(one);
  expect(await exists(keys.queue('lock', 'k')[0])).toBe(false);
});

it('a server that settles is not swept: it does not know sessions of before', async () => {
  const session = await join({ settles: true });
  await hasDied('lock', 'k');
  await sweepBy(session);
  expect(await exists(keys.of('sweep', ''))).toBe(false);
  // It may begin to settle after the turn was taken.
  expect(await session.run(SWEEP, keys.queue('lock', 'k'))).toEqual(['SWEPT']);
  expect(await exists(keys.queue('lock', 'k')[0])).toBe(true);
});
