import { describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError, LockRevokedError } from '../../../lib/contract/errors.js';
import type { LeaseFollower } from '../../../lib/contract/granted-lease.js';
import { granted } from './granting.js';

const LOST = new LockLostError('orders/42', 'for a test');

describe('a lease that was granted', () => {
  it('is held, and has the fields of its grant', () => {
    const before = Date.now();
    const lease = granted({ key: 'prices', mode: 'read', fencingToken: 99n });
    expect(lease).toMatchObject({ key: 'prices', mode: 'read', fencingToken: 99n, state: 'held' });
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    expect(lease.acquiredAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(lease.acquiredAt.getTime()).toBeLessThanOrEqual(Date.now());
  });

  it('asks the backend’s clock on every query', () => {
    const isCurrent = vi.fn<() => boolean>(() => true);
    const lease = granted({ isCurrent });
    lease.isHeld();
    lease.isHeld();
    expect(isCurrent).toHaveBeenCalledTimes(2);
  });

  it('is lost by the very question that finds its time over, before any event', () => {
    let isCurrent = true;
    const lease = granted({ isCurrent: () => isCurrent });
    isCurrent = false;
    expect(lease.isHeld()).toBe(false);
    expect(lease.state).toBe('lost');
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect(lease.signal.reason).toMatchObject({ key: 'orders/42', code: 'LOCK_LOST' });
  });

  it('stays lost when the clock reports it current again', () => {
    let isCurrent = false;
    const lease = granted({ isCurrent: () => isCurrent });
    lease.isHeld();
    isCurrent = true;
    expect(lease.isHeld()).toBe(false);
  });
});

describe('a suspended lease', () => {
  it('is held until its time runs out', () => {
    const lease = granted();
    lease.suspend();
    expect(lease.state).toBe('suspended');
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.aborted).toBe(false);
  });

  it('is held again when resumed', () => {
    const lease = granted();
    lease.suspend();
    lease.resume();
    expect(lease.state).toBe('held');
  });

  it('is lost when its time runs out', () => {
    const lease = granted({ isCurrent: () => false });
    lease.suspend();
    expect(lease.isHeld()).toBe(false);
    expect(lease.state).toBe('lost');
  });
});

describe('a revoked lease', () => {
  it('is held, and its signal asks for the release', () => {
    const lease = granted();
    lease.revoke();
    expect(lease.state).toBe('revoking');
    expect(lease.isHeld()).toBe(true);
    expect(lease.signal.reason).toBeInstanceOf(LockRevokedError);
  });

  it('tells its followers once, with the first reason', () => {
    const lease = granted();
    const follower = { suspend() {}, resume() {}, lose() {}, revoke: vi.fn<() => void>() };
    lease.addFollower(follower);
    const first = new LockRevokedError('orders/42');
    lease.revoke(first);
    lease.revoke();
    expect(follower.revoke).toHaveBeenCalledTimes(1);
    expect(lease.signal.reason).toBe(first);
    expect(lease.isHeld()).toBe(true);
  });

  it('stays revoked through a disconnection', () => {
    const lease = granted();
    lease.revoke();
    lease.suspend();
    expect(lease.state).toBe('revoking');
    lease.resume();
    expect(lease.state).toBe('revoking');
  });

  it('can be revoked while it is suspended', () => {
    const lease = granted();
    lease.suspend();
    lease.revoke();
    expect(lease.state).toBe('revoking');
  });

  it('can still be lost; the signal keeps its first reason', () => {
    const lease = granted();
    lease.revoke();
    lease.lose(LOST);
    expect(lease.state).toBe('lost');
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockRevokedError);
  });
});

describe('a lost lease', () => {
  it('calls its listeners with the reason, once', () => {
    const lease = granted();
    const told = vi.fn<() => void>();
    lease.signal.addEventListener('abort', told);
    lease.lose(LOST);
    lease.lose(new LockLostError('orders/42', 'again'));
    expect(told).toHaveBeenCalledOnce();
    expect(lease.signal.reason).toBe(LOST);
  });

  it.each(['suspend', 'resume', 'revoke', 'release'] as const)('stays lost through %s()', async (verb) => {
    const lease = granted();
    lease.lose(LOST);
    await lease[verb]();
    expect(lease.state).toBe('lost');
    expect(lease.isHeld()).toBe(false);
    expect(lease.signal.reason).toBe(LOST);
  });

  it('is given back anyway, so that nothing is left behind', async () => {
    const giveBack = vi.fn<() => Promise<void>>(async () => {});
    const lease = granted({ giveBack });
    lease.lose(LOST);
    await lease.release();
    expect(giveBack).toHaveBeenCalledOnce();
    await expect(lease.released).resolves.toBeUndefined();
  });
});

describe('a released lease', () => {
  it('is not held from the moment of the call, and its signal does not abort', async () => {
    const { promise, resolve } = deferred();
    const lease = granted({ giveBack: () => promise });
    const releasing = lease.release();
    expect(lease.state).toBe('released');
    expect(lease.isHeld()).toBe(false);
    resolve();
    await releasing;
    expect(lease.signal.aborted).toBe(false);
  });

  it('is given back once, and every call waits for that', async () => {
    const { promise, resolve } = deferred();
    const giveBack = vi.fn<() => Promise<void>>(() => promise);
    const lease = granted({ giveBack });
    const ends: string[] = [];
    const calls = [lease.release(), lease.release()].map((call) => call.then(() => ends.push('released')));
    await new Promise(setImmediate);
    expect(ends).toEqual([]);
    resolve();
    await Promise.all(calls);
    await lease.release();
    expect(giveBack).toHaveBeenCalledOnce();
  });

  it('resolves `released` once it has been given back, not before', async () => {
    const { promise, resolve } = deferred();
    const lease = granted({ giveBack: () => promise });
    const told = vi.fn<() => void>();
    const waiting = lease.released.then(told);
    void lease.release();
    await new Promise(setImmediate);
    expect(told).not.toHaveBeenCalled();
    resolve();
    await waiting;
    expect(told).toHaveBeenCalledOnce();
  });

  it.each(['suspend', 'resume', 'revoke'] as const)('stays released through %s()', async (verb) => {
    const lease = granted();
    await lease.release();
    lease[verb]();
    expect(lease.state).toBe('released');
    expect(lease.signal.aborted).toBe(false);
  });

  it('cannot be lost', async () => {
    const lease = granted({ isCurrent: () => false });
    await lease.release();
    lease.lose(LOST);
    expect(lease.isHeld()).toBe(false);
    expect(lease.state).toBe('released');
    expect(lease.signal.aborted).toBe(false);
  });

  it('results from `await using` at the end of the block', async () => {
    const giveBack = vi.fn<() => Promise<void>>(async () => {});
    const lease = granted({ giveBack });
    await lease[Symbol.asyncDispose]();
    expect(lease.state).toBe('released');
    expect(giveBack).toHaveBeenCalledOnce();
  });
});

describe('the signal of a lease', () => {
  it('is always the same object', () => {
    const lease = granted();
    expect(lease.signal).toBe(lease.signal);
  });

  it.each([
    ['lost', LOST],
    ['revoked', expect.any(LockRevokedError)],
  ])('created afterwards has the reason: it was %s', (how, reason) => {
    const lease = granted();
    if (how === 'lost') lease.lose(LOST);
    else lease.revoke();
    expect(lease.signal.aborted).toBe(true);
    expect(lease.signal.reason).toEqual(reason);
  });

  it('created after revocation and loss keeps the first reason', () => {
    const lease = granted();
    lease.revoke();
    lease.lose(LOST);
    expect(lease.signal.reason).toBeInstanceOf(LockRevokedError);
  });

  it('created after the release does not abort', async () => {
    const lease = granted();
    await lease.release();
    lease.lose(LOST);
    expect(lease.signal.aborted).toBe(false);
  });

  it('has aborted when the listeners are called', () => {
    const lease = granted();
    const { signal } = lease;
    const seen: unknown[] = [];
    lease.onLost(() => seen.push(lease.state, signal.aborted));
    lease.lose(LOST);
    expect(seen).toEqual(['lost', true]);
  });
});

describe('a follower of a lease', () => {
  const follower = () => ({
    suspend: vi.fn<() => void>(),
    resume: vi.fn<() => void>(),
    revoke: vi.fn<() => void>(),
    lose: vi.fn<(reason: unknown) => void>(),
  });

  it('is notified of each state change once', () => {
    const lease = granted();
    const [one, other] = [follower(), follower()];
    lease.addFollower(one);
    lease.addFollower(other);
    lease.resume();
    lease.suspend();
    lease.suspend();
    lease.resume();
    lease.revoke();
    lease.lose(LOST);
    lease.lose(LOST);
    for (const told of [one, other]) {
      expect(Object.values(told).map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1, 1]);
      expect(told.lose).toHaveBeenCalledWith(LOST);
    }
  });

  it('is not notified after its removal, nor after the release', async () => {
    const lease = granted();
    const [removed, staying] = [follower(), follower()];
    lease.addFollower(removed);
    lease.addFollower(staying);
    lease.removeFollower(removed);
    lease.suspend();
    expect(removed.suspend).not.toHaveBeenCalled();
    expect(staying.suspend).toHaveBeenCalledOnce();
    await lease.release();
    lease.lose(LOST);
    expect(staying.lose).not.toHaveBeenCalled();
  });

  it('is notified after the observer of the lease, of which there is one', async () => {
    const lease = granted();
    const told: string[] = [];
    const noting = (name: string): LeaseFollower => ({
      suspend: () => told.push(`${name} suspend`),
      resume: () => told.push(`${name} resume`),
      ending: (state) => told.push(`${name} ending ${state}`),
      revoke: () => told.push(`${name} revoke`),
      overdue: (limit) => told.push(`${name} overdue ${limit}`),
      lose: () => told.push(`${name} lose`),
      releasing: () => told.push(`${name} releasing`),
    });
    lease.addFollower(noting('follower'));
    lease.observer = noting('observer');
    lease.suspend();
    lease.resume();
    lease.overdue('maxHeldMs', 1);
    lease.revoke();
    lease.lose(LOST);
    await lease.release();
    const changes = [
      'suspend',
      'resume',
      'overdue maxHeldMs',
      'ending revoking',
      'revoke',
      'ending lost',
      'lose',
      'releasing',
    ];
    expect(told).toEqual(changes.flatMap((change) => [`observer ${change}`, `follower ${change}`]));
  });

  it('may be another lease, whose state follows', () => {
    const [below, above] = [granted(), granted()];
    below.addFollower(above);
    below.suspend();
    expect(above.state).toBe('suspended');
    below.resume();
    expect(above.state).toBe('held');
    below.lose(LOST);
    expect([above.state, above.signal.reason]).toEqual(['lost', LOST]);
  });

  it('is notified by the query that finds the time over', () => {
    const lease = granted({ isCurrent: () => false });
    const told = follower();
    lease.addFollower(told);
    expect(lease.isHeld()).toBe(false);
    expect(told.lose).toHaveBeenCalledOnce();
  });

  it('may remove itself and others while it is notified', () => {
    const lease = granted();
    const [first, second] = [follower(), follower()];
    first.lose.mockImplementation(() => {
      lease.removeFollower(first);
      lease.removeFollower(second);
    });
    lease.addFollower(first);
    lease.addFollower(second);
    lease.lose(LOST);
    expect(first.lose).toHaveBeenCalledOnce();
    expect(second.lose).not.toHaveBeenCalled();
  });
});

describe('a listener of a lease', () => {
  it('is called once for a loss, and not for a release', async () => {
    const [lost, released] = [granted(), granted()];
    const told = vi.fn<(which: string) => void>();
    lost.onLost(() => told('lost'));
    released.onLost(() => told('released'));
    lost.lose(LOST);
    lost.lose(LOST);
    await released.release();
    expect(told.mock.calls).toEqual([['lost']]);
  });

  it('is called at once when added after the loss', () => {
    const lease = granted();
    lease.lose(LOST);
    const told = vi.fn<() => void>();
    lease.onLost(told);
    expect(told).toHaveBeenCalledOnce();
  });

  it('is called when the lease has been given back, lost or not', async () => {
    const { promise, resolve } = deferred();
    const lease = granted({ giveBack: () => promise });
    const told = vi.fn<() => void>();
    lease.onReleased(told);
    lease.lose(LOST);
    const releasing = lease.release();
    await new Promise(setImmediate);
    expect(told).not.toHaveBeenCalled();
    resolve();
    await releasing;
    expect(told).toHaveBeenCalledOnce();
  });

  it('may wait for `released` long after the release', async () => {
    const lease = granted();
    await lease.release();
    await expect(lease.released).resolves.toBeUndefined();
    expect(lease.released).toBe(lease.released);
  });

  it('notes a warm lease only where the backend supports it', () => {
    const noteKept = vi.fn<(isKept: boolean) => void>();
    granted().noteKept(true);
    granted({ noteKept }).noteKept(true);
    expect(noteKept.mock.calls).toEqual([[true]]);
  });
});
