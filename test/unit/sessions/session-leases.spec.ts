import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LockLostError } from '../../../lib/contract/errors.js';
import { SessionLeases } from '../../../lib/sessions/session-leases.js';
import { granted } from '../contract/granting.js';

// The lease clock is real under fake timers; this one must follow them.
vi.mock(import('../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

describe('the leases of a session', () => {
  let deadline: number;
  let leases: SessionLeases;

  beforeEach(() => {
    vi.useFakeTimers({ now: 0 });
    deadline = 1_000;
    leases = new SessionLeases(() => deadline);
  });
  afterEach(() => void vi.useRealTimers());

  it('are suspended and resumed together', () => {
    const held = [granted(), granted()];
    held.forEach((lease) => leases.add(lease));
    leases.suspend();
    expect(held.map(({ state }) => state)).toEqual(['suspended', 'suspended']);
    leases.resume();
    expect(held.map(({ state }) => state)).toEqual(['held', 'held']);
  });

  it('are lost together, each with its own error that contains the reason', () => {
    const held = [granted({ key: 'a' }), granted({ key: 'b' })];
    held.forEach((lease) => leases.add(lease));
    leases.lose('the session is over');
    expect(held.map(({ state }) => state)).toEqual(['lost', 'lost']);
    expect(held.map(({ signal }) => (signal.reason as LockLostError).key)).toEqual(['a', 'b']);
    expect(held[0]?.signal.reason).toBeInstanceOf(LockLostError);
    expect(held[0]?.signal.reason).toMatchObject({ reason: 'the session is over' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are lost at the deadline and not before, without a query or an event', () => {
    const lease = granted();
    leases.add(lease);
    vi.advanceTimersByTime(999);
    expect(lease.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(lease.signal.reason).toMatchObject({ reason: 'the session was not proven alive in time' });
  });

  it('are lost while suspended, too', () => {
    const lease = granted();
    leases.add(lease);
    leases.suspend();
    vi.advanceTimersByTime(1_000);
    expect(lease.state).toBe('lost');
  });

  it('are held until a deadline that was extended meanwhile', () => {
    const lease = granted();
    leases.add(lease);
    deadline = 5_000;
    vi.advanceTimersByTime(4_999);
    expect(lease.state).toBe('held');
    vi.advanceTimersByTime(1);
    expect(lease.state).toBe('lost');
  });

  it('are lost at a deadline that moved closer while there was none', () => {
    leases.add(granted()).leave();
    deadline = 500;
    leases.check();
    const lease = granted();
    leases.add(lease);
    vi.advanceTimersByTime(499);
    expect(lease.state).toBe('held');
    vi.advanceTimersByTime(1);
    expect(lease.state).toBe('lost');
  });

  it('are lost at once when added after the deadline', () => {
    vi.setSystemTime(2_000);
    const lease = granted();
    leases.add(lease);
    vi.advanceTimersByTime(1);
    expect(lease.state).toBe('lost');
  });

  it('need one timer, however many there are', () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    for (let count = 0; count < 10; count++) leases.add(granted());
    vi.advanceTimersByTime(999);
    expect(setTimer).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(1);
  });

  it('share one timer, which runs out once after the last one was removed', () => {
    const [first, last] = [leases.add(granted()), leases.add(granted())];
    first.leave();
    first.leave();
    last.leave();
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(10_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are independent of the session once removed', () => {
    const lease = granted();
    leases.add(lease).leave();
    leases.suspend();
    leases.lose('too late');
    vi.advanceTimersByTime(10_000);
    expect(lease.state).toBe('held');
  });

  it('are watched again after all were lost or removed', () => {
    leases.add(granted()).leave();
    leases.add(granted());
    leases.lose('once');
    const lease = granted();
    leases.add(lease);
    vi.advanceTimersByTime(1_000);
    expect(lease.state).toBe('lost');
  });

  it('may be released by a listener of the loss', async () => {
    const lease = granted();
    const place = leases.add(lease);
    lease.signal.addEventListener('abort', () => void place.leave());
    leases.lose('the session is over');
    await lease.release();
    expect(lease.state).toBe('lost');
    expect(vi.getTimerCount()).toBe(0);
  });
});
