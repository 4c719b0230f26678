import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../../lib/command/run-command.js';
import type { LockBackend } from '../../lib/contract/lock-backend.js';
import { Script } from '../../lib/redis/client/script.js';
import { redisObserver } from '../../lib/redis/redis.backend.js';
import type { RedisBackend } from '../../lib/redis/redis.backend.js';
import { ACQUIRE } from '../../lib/redis/scripts/lock-scripts.js';
import { JOIN, RENEW } from '../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { Sweeps } from '../../lib/redis/session/sweep.js';
import { RedisServer } from '../../lib/testing/index.js';
import { commandIo } from '../unit/command/command-io.js';
import { clientsOf } from './support/clients.js';
import { linkTo, ScriptSession } from './support/script-session.js';

const HOUR_MS = 3_600_000;

let server: RedisServer;
let basePath: string;
let keys: RedisKeys;

beforeAll(async () => {
  server = await RedisServer.start();
});

afterAll(() => server.stop());

beforeEach(() => {
  basePath = `test/${randomUUID()}`;
  keys = new RedisKeys(basePath);
});

/** The fields that the server has on record. */
async function recorded(...fields: string[]): Promise<(string | undefined)[]> {
  const answer = await server.ask('HMGET', keys.server, ...fields);
  return [...answer.matchAll(/\$(?:-1|\d+\r\n(.*))\r\n/g)].map(([, value]) => value);
}

function settlingMsOf(client: LockBackend): number {
  return (client as RedisBackend).settlingMs;
}

/** Begins the first session on a server that says that it was started so many seconds ago. Returns the reply. */
async function joinedAfter(seconds: number, delayMs: number): Promise<unknown> {
  const link = await linkTo(server.url);
  const said = `local server = redis
local redis = {error_reply = server.error_reply}
function redis.call(command, part, ...)
  if command == 'INFO' and part == 'server' then return 'run_id:abc\\r\\nuptime_in_seconds:${seconds}\\r\\n' end
  if part == nil then return server.call(command) end
  return server.call(command, part, ...)
end
`;
  const script = new Script('JOIN', said + JOIN.text);
  const values = ['', 'one', 1_000, delayMs, 1, '', '0'];
  return link.run({ script, keys: [keys.sessions, keys.server], values });
}

describe('a command of an operator', () => {
  async function list(): Promise<void> {
    const io = commandIo();
    const args = ['--backend', 'redis', '--connect', server.url, '--base-path', basePath, '--within', '30s'];
    expect(await runCommand(['list', ...args], io)).toBe(0);
  }

  it('does not make a restarted server settle for longer than the applications need', async () => {
    await clientsOf({ basePath, sessionTimeoutMs: 2_000 })(server.url).connect();
    await list();
    expect(await recorded('delay')).toEqual(['2000']);
  });

  it('leaves the number of shards to the applications', async () => {
    const observer = redisObserver({ url: server.url, basePath }).create();
    onTestFinished(() => observer.close());
    await observer.connect();
    expect(await recorded('delay', 'shards')).toEqual([undefined, undefined]);
    await clientsOf({ basePath, shards: 6, restartDelayMs: 0 })(server.url).connect();
    expect(await recorded('delay', 'shards')).toEqual(['0', '6']);
  });

  it('does not shorten the delay of a server without data that it comes to first', async () => {
    await using fresh = await RedisServer.start();
    const observer = redisObserver({ url: fresh.url, basePath, sessionTimeoutMs: 1_000 }).create();
    onTestFinished(() => observer.close());
    await observer.connect();
    const client = clientsOf({ basePath, sessionTimeoutMs: 20_000 })(fresh.url);
    await client.connect();
    expect(settlingMsOf(client)).toBeGreaterThan(10_000);
    expect(settlingMsOf(client)).toBeLessThanOrEqual(21_000);
  });

  it('does not shorten that delay either when its own one is over before an application comes', async () => {
    await using fresh = await RedisServer.start();
    const observer = redisObserver({ url: fresh.url, basePath, sessionTimeoutMs: 1_000 }).create();
    onTestFinished(() => observer.close());
    await observer.connect();
    await expect.poll(() => settlingMsOf(observer)).toBe(0);
    const client = clientsOf({ basePath, sessionTimeoutMs: HOUR_MS })(fresh.url);
    await client.connect();
    expect(settlingMsOf(client)).toBeGreaterThan(HOUR_MS / 2);
  });

  it('sweeps no entries, as an application does', async () => {
    const begin = vi.spyOn(Sweeps.prototype, 'begin');
    onTestFinished(() => begin.mockRestore());
    const observer = redisObserver({ url: server.url, basePath }).create();
    onTestFinished(() => observer.close());
    await observer.connect();
    expect(begin).not.toHaveBeenCalled();
    await clientsOf({ basePath })(server.url).connect();
    expect(begin).toHaveBeenCalledOnce();
  });
});

it('a process with a longer session timeout makes a server that settles do so for that time', async () => {
  await using fresh = await RedisServer.start();
  const open = clientsOf({ basePath });
  await open(fresh.url, { sessionTimeoutMs: 5_000 }).connect();
  const client = open(fresh.url, { sessionTimeoutMs: 20_000 });
  await client.connect();
  expect(settlingMsOf(client)).toBeGreaterThan(10_000);
});

describe('after the clock of the server was set back', () => {
  it('the server settles for its delay at most, also by the next renewals', async () => {
    const session = await new ScriptSession(await linkTo(server.url), keys).join({ settles: true });
    const until = Date.now() + HOUR_MS;
    await server.ask('HSET', keys.server, 'until', String(until));
    const answer = await session.run(ACQUIRE, keys.queue('lock', 'k'), '0', '0', session.entry());
    expect(answer).toEqual(['UNSETTLED', expect.any(Number)]);
    expect((answer as [string, number])[1]).toBeLessThanOrEqual(600_000);
    await session.run(RENEW, [], 600_000);
    expect(Number((await recorded('until'))[0])).toBeLessThan(until - HOUR_MS / 2);
  });

  it('a dead process keeps its keys for the longest session timeout at most', async () => {
    const session = await new ScriptSession(await linkTo(server.url), keys).join();
    const end = Date.now() + HOUR_MS;
    await server.ask('ZADD', keys.sessions, String(end), 'dead');
    await session.run(RENEW, [], 1_000);
    const [, score] = /\r\n(\d+)\r\n/.exec(await server.ask('ZSCORE', keys.sessions, 'dead')) ?? [];
    expect(Number(score)).toBeGreaterThan(end - HOUR_MS);
    expect(Number(score)).toBeLessThan(end - HOUR_MS / 2);
  });

  it('the server settles for its delay at most, also when the next session begins', async () => {
    const link = await linkTo(server.url);
    await new ScriptSession(link, keys).join({ settles: true });
    const later = String(Date.now() + HOUR_MS);
    await server.ask('HSET', keys.server, 'until', later, 'since', later);
    await new ScriptSession(link, keys).join({ settles: true });
    const times = await recorded('until', 'since');
    for (const time of times) expect(Number(time)).toBeLessThan(Number(later) - HOUR_MS / 2);
  });

  it('a session of an earlier version, which records its delay only, ends no sooner than it expects', async () => {
    const session = await new ScriptSession(await linkTo(server.url), keys).join();
    await server.ask('HSET', keys.server, 'ttl', '1000', 'delay', String(2 * HOUR_MS));
    const end = String(Date.now() + HOUR_MS);
    await server.ask('ZADD', keys.sessions, end, 'earlier');
    await session.run(RENEW, [], 1_000);
    expect(await server.ask('ZSCORE', keys.sessions, 'earlier')).toContain(end);
  });

  it('a session can begin on a server that was started at a later time', async () => {
    expect(await joinedAfter(-3_600, 5_000)).toEqual(['JOINED', expect.any(String), 5_000, expect.any(String)]);
  });
});

it('a server that has just started settles for no time when its delay is none', async () => {
  expect(await joinedAfter(0, 0)).toEqual(['JOINED', expect.any(String), 0, expect.any(String)]);
});

it('sessions go on and begin when the record lacks times, as that of an earlier version does', async () => {
  const link = await linkTo(server.url);
  const session = await new ScriptSession(link, keys).join();
  await server.ask('HDEL', keys.server, 'ttl', 'since', 'delay');
  expect(await session.run(RENEW, [], 1_000)).toEqual(['ALIVE', 1, expect.any(String)]);
  const next = await new ScriptSession(link, keys).join();
  expect(await recorded('ttl', 'delay')).toEqual(['600000', '0']);
  expect(await next.run(ACQUIRE, keys.queue('lock', 'k'), '0', '0', next.entry())).toEqual(expect.any(Number));
});
