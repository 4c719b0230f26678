import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ACQUIRE } from '../../lib/redis/scripts/lock-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import type { QueueKind } from '../../lib/redis/session/redis-keys.js';
import type { Answer, RedisSession } from '../../lib/redis/session/redis-session.js';
import { sweep } from '../../lib/redis/session/sweep.js';
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

function sweepBy(session: ScriptSession): Promise<void> {
  const run: RedisSession['run'] = async (script, names, values) =>
    (await session.run(script, names, ...(typeof values === 'function' ? values(false) : values))) as Answer;
  return sweep({ keys, run });
}

const hasDied = (kind: QueueKind, key: string) => server.ask('ZADD', keys.queue(kind, key)[0], '5', DEAD);
const exists = async (name: string) => (await server.ask('EXISTS', name)) === ':1\r\n';

it('a sweep removes the entries of dead processes, and no others', async () => {
  const session = await join();
  const [held, waiting, shared] = ['held', 'waiting', 'shared'].map((key) => keys.queue('lock', key));
  await session.run(ACQUIRE, held!, '0', '0', session.entry());
  await session.run(ACQUIRE, held!, '1', '0', session.entry());
  for (const kind of ['lock', 'permits', 'election', 'put', 'take'] as const) await hasDied(kind, 'once');
  await server.ask('RPUSH', waiting![1], DEAD);
  const own = session.entry().replace('x', 'r');
  await server.ask('ZADD', shared![0], '5', DEAD.replace('x', 'r'), '6', own);

  await sweepBy(session);

  for (const kind of ['lock', 'permits', 'election', 'put', 'take'] as const) {
    expect(await exists(keys.queue(kind, 'once')[0])).toBe(false);
  }
  expect(await exists(waiting![1])).toBe(false);
  expect(await server.ask('ZRANGE', shared![0], '0', '-1')).toBe(`*1\r\n$${own.length}\r\n${own}\r\n`);
  expect([await exists(held![0]), await exists(held![1])]).toEqual([true, true]);
});

it('one process sweeps in an hour', async () => {
  const [one, other] = [await join(), await join()];
  await sweepBy(one);
  await hasDied('lock', 'k');
  await sweepBy(other);
  expect(await exists(keys.queue('lock', 'k')[0])).toBe(true);
});

it('a server that settles is not swept: it does not know sessions of before', async () => {
  const session = await join({ settles: true });
  await hasDied('lock', 'k');
  await sweepBy(session);
  expect(await exists(keys.queue('lock', 'k')[0])).toBe(true);
});
