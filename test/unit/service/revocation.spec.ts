import { describe, expect, it } from 'vitest';
import { LockRevokedError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { settled } from '../local/callers.js';
import { startLocks } from './locks.js';

describe.each([false, true])('revocation, with localLine: %s', (localLine) => {
  const start = () => startLocks({ localLine });

  it('revokes the holder’s lease, and resolves with its release', async () => {
    const { locks } = start();
    const lease = await locks.acquire('k');
    let isOver = false;
    const revoking = locks.revoke('k', { graceMs: Infinity }).then(() => (isOver = true));
    expect([lease.state, lease.signal.reason]).toEqual(['revoking', expect.any(LockRevokedError)]);
    await settled();
    expect([isOver, lease.isHeld()]).toEqual([false, true]);
    await lease.release();
    await revoking;
    expect((await locks.acquire('k')).state).toBe('held');
  });

  it('takes the key after the grace, and the next contender acquires it', async () => {
    const { locks } = start();
    const lease = await locks.acquire('k');
    const next = locks.acquire('k');
    await locks.revoke('k', { graceMs: 1 });
    expect([lease.state, lease.isHeld(), (await next).state]).toEqual(['lost', false, 'held']);
  });

  it('revokes all readers, and no waiting writer', async () => {
    const { locks } = start();
    const { read, write } = locks.readWriteLock('k');
    const readers = [await read.acquire(), await read.acquire()];
    const writing = write.acquire();
    await settled();
    const revoking = locks.revoke('k');
    expect(readers.map(({ state }) => state)).toEqual(['revoking', 'revoking']);
    for (const reader of readers) await reader.release();
    await revoking;
    expect((await writing).state).toBe('held');
  });

  it('revokes the holders of permits', async () => {
    const { locks } = start();
    const pool = locks.semaphore('k', { permits: 2 });
    const leases = [await pool.acquire(), await pool.acquire()];
    await locks.revoke('k', { graceMs: 0 });
    expect(leases.map(({ state }) => state)).toEqual(['lost', 'lost']);
    expect((await pool.acquire({ permits: 2 })).state).toBe('held');
  });

  it('is refused at once inside a hold of the key, and no lease is revoked', async () => {
    const { locks } = start();
    const refused = async (key: string, lease?: Lease) => {
      await expect(locks.revoke(key, { graceMs: Infinity })).rejects.toMatchObject({ code: 'LOCK_REENTRANCY', key });
      expect(lease?.state ?? 'held').toBe('held');
    };
    await locks.using('k', (lease) => locks.using('other', () => refused('k', lease)));
    await locks.readWriteLock('k').read.using((lease) => refused('k', lease));
    await locks.semaphore('k', { permits: 2 }).using((lease) => refused('k', lease));
    await locks.multi(['k', 'l']).using(async () => (await refused('k'), refused('l')));
    await locks.segmented('s', { segments: 1 }).using((lease) => refused('s/#0000', lease));
  });

  it('is allowed beside a hold, and after its release', async () => {
    const { locks } = start();
    const revoke = (key: string) => locks.revoke(key, { graceMs: Infinity });
    await expect(locks.using('k', () => revoke('other'))).resolves.toBeUndefined();
    await expect(locks.using('k', (lease) => lease.release().then(() => revoke('k')))).resolves.toBeUndefined();
    await expect(locks.semaphore('k', { permits: 2 }).using(() => revoke('other'))).resolves.toBeUndefined();
  });

  it('does nothing when the key is not held', async () => {
    const { locks } = start();
    await expect(locks.revoke('k', { graceMs: 0 })).resolves.toBeUndefined();
  });

  it('ends early with its signal, and then takes no key', async () => {
    const { locks } = start();
    const lease = await locks.acquire('k');
    const abort = new AbortController();
    const revoking = locks.revoke('k', { signal: abort.signal });
    abort.abort(new Error('never mind'));
    await expect(revoking).rejects.toThrow('never mind');
    expect(lease.state).toBe('revoking');
    await expect(locks.revoke('k', { signal: abort.signal })).rejects.toThrow('never mind');
  });

  it.each([
    [{ graceMs: -1 }, 'graceMs must be a number of milliseconds, 0 or more'],
    [{ graceMs: 'soon' }, 'graceMs must be'],
    [{ signal: {} }, 'signal must be an AbortSignal'],
    [{ grace: 1 }, 'unknown field "grace"'],
  ])('refuses %j', async (options, message) => {
    const { locks } = start();
    await expect(locks.revoke('k', options as object)).rejects.toThrow(message);
  });
});

describe('a revoked key with a local queue', () => {
  it('is not handed over locally, but goes to a new contender', async () => {
    const { locks, backend } = startLocks({ localLine: true });
    const lease = await locks.acquire('k');
    const behind = locks.acquire('k');
    await settled();
    const revoking = locks.revoke('k');
    await lease.release();
    await revoking;
    expect([(await behind).state, backend.requests.length]).toEqual(['held', 2]);
  });
});
