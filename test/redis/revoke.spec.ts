import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { RedisLink } from '../../lib/redis/client/redis-link.js';
import { ASK, FORCE } from '../../lib/redis/scripts/lock-scripts.js';
import { ADOPT } from '../../lib/redis/scripts/session-scripts.js';
import { RedisKeys } from '../../lib/redis/session/redis-keys.js';
import { RedisServer } from '../../lib/testing/index.js';
import { clientsOf, hold } from './support/clients.js';
import { linkTo, ScriptSession } from './support/script-session.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

/** Returns a function that resolves when the holders of a lock have been asked so many more times. */
function askedTimes(): (times: number) => Promise<void> {
  const { run } = RedisLink.prototype;
  const asked = new EventTarget();
  const spy = vi.spyOn(RedisLink.prototype, 'run').mockImplementation(async function (this: RedisLink, call) {
    const answer = await run.call(this, call);
    if (call.script === ASK && call.keys.some((key) => key.includes(':lock:'))) asked.dispatchEvent(new Event('asked'));
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
  const [one, other] = [open(server.url), open(server.url)];
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
  it('waits until the server has settled, and takes the key from the adopted hold', async () => {
    const [link, keys] = [await linkTo(server.url), new RedisKeys('test/revoked')];
    const join = () => new ScriptSession(link, keys).join({ settles: true });
    const [holder, other] = [await join(), await join()];
    const queue = keys.queue('lock', 'k');
    expect(await other.run(ASK, queue, 60_000, '10')).toEqual(['ASKED', '10']);
    await holder.run(ADOPT, queue, '10', holder.entry(), holder.entry());
    expect(await other.run(ASK, queue, 60_000, '10')).toEqual(['ASKED', '10']);
    await other.run(FORCE, queue, '10');
    await expect.poll(() => holder.messages).toEqual(['r 2', 'x 2']);
    expect(await server.ask('EXISTS', queue[0])).toBe(':0\r\n');
  });
});
