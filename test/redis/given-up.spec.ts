import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { LEAVE } from '../../lib/redis/scripts/lock-scripts.js';
import { GIVE_PLAIN } from '../../lib/redis/scripts/plain-scripts.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { clientsOf, requestFor } from './support/clients.js';

/** Long enough that a request is given up before the answer that its script is unknown. */
const DELAY_MS = 400;

let server: RedisServer;
let admin: Redis;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.url);
});
afterAll(async () => {
  await admin.quit();
  await server.stop();
});

describe('a request that is given up, on a server that has lost its script but knows the one that undoes it', () => {
  it.each([
    ['a lock', 'k', {}, LEAVE],
    ['a lock without waiting', 'now', { wait: false }, LEAVE],
    ['a plain lock', '/plain', { line: 'none', wait: false }, GIVE_PLAIN],
  ] as const)('%s: has no effect', async (_what, key, changes, undoing) => {
    const proxy = await FaultProxy.open(server.port);
    onTestFinished(() => proxy.close());
    const open = clientsOf({ restartDelayMs: 0, plainLocks: true, sessionTimeoutMs: 30_000 });
    const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(server.url)];
    await Promise.all([one.connect(), other.connect()]);
    await admin.script('FLUSH');
    await admin.script('LOAD', undoing.text);

    proxy.delay(DELAY_MS, 'toClient');
    const leaving = new AbortController();
    const asked = one.acquire(requestFor(key, { ...changes, signal: leaving.signal }));
    const reason = new Error('gave up');
    const ended = expect(asked).rejects.toBe(reason);
    await pause(DELAY_MS / 4);
    leaving.abort(reason);
    await ended;
    // Answers come in the order of the requests: this one is made after all that was to be undone.
    await one.lineOf('another');
    await one.lineOf('another');

    expect(await other.acquire(requestFor(key, { ...changes, wait: false }))).toBeTruthy();
  });
});
