import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import type { ScriptCall } from '../../lib/redis/client/script.js';
import { ACQUIRE, ASK, FORCE, LEAVE } from '../../lib/redis/scripts/lock-scripts.js';
import { ADOPT } from '../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { RedisSession } from '../../lib/redis/session/redis-session.js';
import { FaultProxy, RedisServer } from '../../lib/testing/index.js';
import { clientsOf, hold, SESSION_MS } from './support/clients.js';
import { linkTo, ScriptSession } from './support/script-session.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Whether the holders of a lock are asked, or counted. */
function isAsk({ script, keys }: ScriptCall): boolean {
  return script === ASK && keys.some((key) => key.includes(':lock:'));
}

/** Returns a function that resolves when the holders of a lock have been asked so many more times. */
function askedTimes(): (times: number) => Promise<void> {
  const { run } = RedisLink.prototype;
  const asked = new EventTarget();
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(async function (this: RedisLink, call) {
    const answer = await run.call(this, call);
    if (isAsk(call)) asked.dispatchEvent(new Event('asked'));
    return answer;
  });
  onTestFinished(() => spy.mockRestore());
  return (times) => {
    const done = deferred();
    let left = times;
    asked.addEventListener('asked', () => --left === 0 && done.resolve());
    return done.promise;
  };
}

/** A writer that becomes a reader after another client has begun to revoke its lease. */
async function downgradedWhileRevoked(graceMs: number) {
  const open = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 1_000 });
  // The session of the one that revokes is short, since it asks again at a part of that time.
  const [one, other] = [open(server.url, { sessionTimeoutMs: 30_000 }), open(server.url)];
  const lease = await hold(one, 'k', { mode: 'write' });
  await other.connect();
  const times = askedTimes();
  const [begun, later] = [times(1), times(4)];
  const revoked = other.revoke?.('k', { graceMs, signal: undefined });
  await begun;
  await lease.downgrade();
  expect(lease.mode).toBe('read');
  return { other, lease, revoked, later };
}

describe('revocation of a writer that becomes a reader', () => {
  it('waits for its release', async () => {
    const { lease, revoked, later } = await downgradedWhileRevoked(60_000);
    const first = Promise.race([revoked?.then(() => 'revoked'), later.then(() => 'asked again')]);
    expect(await first).toBe('asked again');
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    await revoked;
  });

  it('takes the key from it when the time is over', async () => {
    const { other, lease, revoked } = await downgradedWhileRevoked(100);
    await revoked;
    expect(await other.lineOf('k')).toEqual([]);
    await expect.poll(() => lease.state).toBe('lost');
  });
});

describe('revocation of a hold that another server adopts', () => {
  /** A server that comes back without its data, and the revocation of a lease whose holder finds it later. */
  async function revokedBeforeAdoption(graceMs: number) {
    const replaced = await RedisServer.start();
    onTestFinished(() => replaced.stop());
    const proxy = await FaultProxy.open(replaced.port);
    onTestFinished(() => proxy.close());
    // The server comes back within the session, also on a busy machine.
    const open = clientsOf({ sessionTimeoutMs: 2 * SESSION_MS });
    const [one, other] = [open(`redis://127.0.0.1:${proxy.port}`), open(replaced.url)];
    const lease = await hold(one, 'k');
    await other.connect();
    proxy.refuse();
    proxy.disconnect();
    await replaced.kill();
    await replaced.restart();
    const asked = askedTimes()(1);
    const revoked = other.revoke?.('k', { graceMs, signal: undefined });
    await asked;
    proxy.heal();
    return { one, lease, revoked };
  }

  it('asks the holder to release, and waits for it', async () => {
    const { lease, revoked } = await revokedBeforeAdoption(60_000);
    const wasHeld = revoked?.then(() => lease.isHeld());
    await expect.poll(() => lease.state).toBe('revoking');
    await lease.release();
    expect(await wasHeld).toBe(false);
  });

  it('takes the key from the holder when the time is over', async () => {
    const { one, lease, revoked } = await revokedBeforeAdoption(0);
    await expect.poll(() => one.state).toBe('connected');
    await revoked;
    expect(await one.lineOf('k')).toEqual([]);
    await expect.poll(() => lease.state).toBe('lost');
  });

  it('is over when the server has settled, if nobody holds the key', async () => {
    const fresh = await RedisServer.start();
    onTestFinished(() => fresh.stop());
    // The server settles for longer than a request looks for one.
    const open = clientsOf({ restartDelayMs: 5_000, connectTimeoutMs: 2_000, sessionTimeoutMs: 2_000 });
    const client = open(fresh.url);
    await client.connect();
    await client.revoke?.('k', { graceMs: 0, signal: undefined });
    expect(await client.lineOf('k')).toEqual([]);
  });

  it('leaves the next holder its key', async () => {
    const [link, keys] = [await linkTo(server.url), new RedisKeys('test/revoked')];
    const join = () => new ScriptSession(link, keys).join({ settles: true });
    const [holder, next, other] = [await join(), await join(), await join()];
    const queue = keys.queue('lock', 'k');
    const [former, adopted, later] = [holder.entry(), holder.entry(), next.entry()];
    const [, last] = (await other.run(ASK, queue, 60_000, '')) as [string, string];
    await holder.run(ADOPT, queue, String(Number(last) - 1), former, adopted, '');
    expect(await other.run(ASK, queue, 60_000, last)).toEqual(['ASKED', last, 1, expect.any(Number)]);
    await next.run(ACQUIRE, queue, '1', '0', later);
    await holder.run(LEAVE, queue, adopted);
    expect(await other.run(ASK, queue, 60_000, last)).toEqual(['ASKED', last, 0, expect.any(Number)]);
    expect(await other.run(FORCE, queue, last)).toEqual(['SETTLING', expect.any(Number)]);
    expect(await server.ask('ZRANGE', queue[0], '0', '-1')).toContain(later);
    expect(holder.messages).toEqual(expect.arrayContaining(['r 2']));
    expect(next.messages.filter((message) => !message.startsWith('g'))).toEqual([]);
  });
});

describe('the last token that a revocation counts', () => {
  async function asking({ settles }: { settles: boolean }) {
    const [link, keys] = [await linkTo(server.url), new RedisKeys(`test/last/${settles}`)];
    const session = await new ScriptSession(link, keys).join({ settles });
    return { session, queue: keys.queue('lock', 'k') };
  }

  it('is that of the last holder, and not of the present time: the clock may be set back', async () => {
    const { session, queue } = await asking({ settles: false });
    expect(await session.run(ASK, queue, 60_000, '')).toEqual(['ASKED', '0', 0, 0]);
    const answer = await session.run(ACQUIRE, queue, '1', '0', session.entry());
    const [, [, token]] = answer as [string, [string, number]];
    expect(await session.run(ASK, queue, 60_000, '')).toEqual(['ASKED', String(token), 1, 0]);
  });

  it('is no less than the last one on record while the server settles', async () => {
    const { session, queue } = await asking({ settles: true });
    const ahead = String(2 ** 50);
    await server.ask('SET', queue[2], ahead);
    expect(await session.run(ASK, queue, 60_000, '')).toEqual(['ASKED', ahead, 0, expect.any(Number)]);
  });
});

it('a revocation asks each of several holders once, and not whenever one of them releases', async () => {
  const open = clientsOf({ restartDelayMs: 0, sessionTimeoutMs: 600_000 });
  const [one, other] = [open(server.url), open(server.url)];
  const readers = await Promise.all(['a', 'b', 'c'].map((label) => hold(one, 'k', { mode: 'read', label })));
  await other.connect();
  const looks = askedTimes();
  const received = vi.spyOn(RedisSession.prototype, 'received');
  onTestFinished(() => received.mockRestore());
  const begun = looks(2);
  const revoked = other.revoke?.('k', { graceMs: 60_000, signal: undefined });
  await begun;
  for (const reader of readers) {
    await expect.poll(() => reader.state).toBe('revoking');
    // The next one releases when this release has been seen.
    const seen = looks(1);
    await reader.release();
    await seen;
  }
  await revoked;
  const requests = vi.mocked(RedisLink.prototype).run.mock.calls.map(([call]) => call);
  const asking = requests.filter((call) => isAsk(call) && call.values[5] !== '0');
  expect(asking).toHaveLength(1);
  const asked = received.mock.calls.filter(([message]) => message.startsWith('r '));
  expect(asked).toHaveLength(readers.length);
});
