import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeeperError } from '../../../../lib/zookeeper/client/keeper-error.js';
import { ErrorCode } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { SessionEndedError } from '../../../../lib/zookeeper/session/requests.js';
import { Session } from '../../../../lib/zookeeper/session/session.js';
import { granted } from '../../contract/granting.js';
import { AnsweringClient } from './answering-client.js';

// The lease clock is real under fake timers; this one must follow them.
vi.mock(import('../../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

const T = 12_000;
const LEASE_MS = T * 0.98 - 15;

const handshake = () => ({ sessionId: 7n, timeoutMs: T, sentAt: Date.now() });
const node = (foundGone = () => {}) => ({ path: '/a', czxid: 7n, sharesItsName: false, foundGone });
const loss = () => new KeeperError(ErrorCode.connectionLoss, '/a');

let client: AnsweringClient;
let session: Session;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  client = new AnsweringClient();
  session = new Session(client, handshake());
});
afterEach(() => {
  session.ended('closed');
  vi.useRealTimers();
});

/** Returns the current state of the promise. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = 'pending';
  promise.then(
    () => (state = 'resolved'),
    (error: unknown) => (state = error),
  );
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

describe('a session', () => {
  it('stays over when its connection is lost after its end', async () => {
    session.ended('closed');
    session.disconnected();
    await expect(session.whenConnected()).rejects.toBeInstanceOf(SessionEndedError);
  });

  it('is connected, and current, from its handshake', async () => {
    expect(session).toMatchObject({ id: 7n, timeoutMs: T, isConnected: true, isCurrent: true });
    expect(session.requests).toBe(client);
    await expect(session.whenConnected()).resolves.toBeUndefined();
  });

  it('is current until its deadline by the clock, without an event', () => {
    vi.setSystemTime(LEASE_MS - 1);
    expect(session.isCurrent).toBe(true);
    vi.setSystemTime(LEASE_MS);
    expect(session.isCurrent).toBe(false);
  });

  it('is proven by answers, in two steps', () => {
    session.answered({ sentAt: 1_000, receivedAt: 1_010, isQuorum: false });
    session.answered({ sentAt: 4_010, receivedAt: 4_020, isQuorum: true });
    vi.setSystemTime(LEASE_MS + 999);
    expect(session.isCurrent).toBe(true);
    vi.setSystemTime(LEASE_MS + 1_000);
    expect(session.isCurrent).toBe(false);
  });

  it('is current again with the first transaction after a reconnect', () => {
    session.disconnected();
    vi.setSystemTime(LEASE_MS);
    session.connected(handshake());
    expect(session.isCurrent).toBe(false);
    session.answered({ sentAt: LEASE_MS, receivedAt: LEASE_MS, isQuorum: true });
    expect(session.isCurrent).toBe(true);
  });

  it('sends that transaction at once', () => {
    session.track(node());
    session.disconnected();
    session.connected(handshake());
    expect(client.asked).toEqual(['check /a']);
  });

  it('has the session timeout that was granted last', async () => {
    session.disconnected();
    session.connected({ ...handshake(), timeoutMs: T / 2 });
    expect(session.timeoutMs).toBe(T / 2);
    client.asked.length = 0;
    await vi.advanceTimersByTimeAsync(T);
    expect(client.asked).toHaveLength(12);
  });
});

describe('the leases of a session', () => {
  it('are suspended, resumed and lost with it', () => {
    const lease = granted();
    session.carry(lease);
    session.disconnected();
    expect(lease.state).toBe('suspended');
    session.connected(handshake());
    expect(lease.state).toBe('held');
    session.ended('expired');
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'the session is over (expired)' });
  });

  it('are lost at the deadline when nothing is answered', () => {
    const lease = granted();
    session.carry(lease);
    session.disconnected();
    vi.advanceTimersByTime(LEASE_MS - 1);
    expect(lease.state).toBe('suspended');
    vi.advanceTimersByTime(2);
    expect(lease.state).toBe('lost');
  });

  /** Whether the lease was aborted without a call that checks it. */
  const aborts = (lease: ReturnType<typeof granted>) => lease.signal.aborted;

  it.each([
    ['the next heartbeat', () => vi.advanceTimersByTime(T / 12)],
    ['an answer', () => session.answered({ sentAt: LEASE_MS - 1, receivedAt: LEASE_MS, isQuorum: false })],
    ['a lost connection', () => session.disconnected()],
  ])('are lost after the machine was suspended with %s', (_what, happens) => {
    const lease = granted();
    session.carry(lease);
    // Timers do not run while the machine is suspended.
    vi.setSystemTime(LEASE_MS);
    expect(aborts(lease)).toBe(false);
    happens();
    expect(aborts(lease)).toBe(true);
    expect(lease.signal.reason).toMatchObject({ reason: 'the session was not proven alive in time' });
  });

  it('are lost with a handshake that is too late, and not held in between', () => {
    const lease = granted();
    const states: string[] = [];
    session.carry(lease);
    session.disconnected();
    lease.addFollower({
      suspend() {},
      resume: () => states.push('held'),
      revoke() {},
      lose: () => states.push('lost'),
    });
    vi.setSystemTime(LEASE_MS);
    session.connected(handshake());
    expect(states).toEqual(['lost']);
  });

  it('are lost in time when the machine was suspended for a part of it', () => {
    const lease = granted();
    session.carry(lease);
    session.disconnected();
    vi.setSystemTime(T / 2);
    vi.advanceTimersByTime(LEASE_MS - T / 2 - 1);
    expect(aborts(lease)).toBe(false);
    vi.advanceTimersByTime(2);
    expect(aborts(lease)).toBe(true);
  });

  it('are lost in time by the shorter session timeout that a server grants', () => {
    const lease = granted();
    session.carry(lease);
    session.disconnected();
    session.connected({ ...handshake(), timeoutMs: T / 2 });
    session.disconnected();
    vi.advanceTimersByTime((T / 2) * 0.98 - 16);
    expect(aborts(lease)).toBe(false);
    vi.advanceTimersByTime(2);
    expect(aborts(lease)).toBe(true);
  });

  it('are lost at once when they are added after its end', () => {
    session.ended('expired');
    const lease = granted();
    session.carry(lease);
    expect(lease.state).toBe('lost');
    expect(lease.signal.reason).toMatchObject({ code: 'LOCK_LOST', reason: 'the session is over (expired)' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave no timer when the session ends', () => {
    session.carry(granted());
    vi.advanceTimersByTime(T / 2);
    session.ended('closed');
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a lease that begins while no server is connected', () => {
  it('is suspended until one is', () => {
    session.disconnected();
    const lease = granted();
    session.carry(lease);
    expect(lease.state).toBe('suspended');
    session.connected(handshake());
    expect(lease.state).toBe('held');
  });
});

describe('the end of a session', () => {
  it('is reported once, with the reason', () => {
    session.ended('expired');
    session.ended('closed');
    expect(session.signal.reason).toBeInstanceOf(SessionEndedError);
    expect(session.signal.reason).toMatchObject({ why: 'expired' });
    expect(session).toMatchObject({ isConnected: false, isCurrent: false });
  });

  it('does not change when the connection is lost after it', async () => {
    session.ended('expired');
    session.disconnected();
    await expect(session.whenConnected()).rejects.toBe(session.signal.reason);
  });

  it('stops the heartbeat', () => {
    session.ended('expired');
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([true, false])('rejects callers that wait for a connection (connected before: %s)', async (isConnected) => {
    if (!isConnected) session.disconnected();
    const waiting = isConnected ? undefined : session.whenConnected();
    session.ended('expired');
    await expect(waiting ?? session.whenConnected()).rejects.toBe(session.signal.reason);
    await expect(session.persistently(async () => 'asked')).rejects.toBe(session.signal.reason);
  });
});

describe('waiting for a connection', () => {
  it('ends with the next handshake', async () => {
    session.disconnected();
    const waiting = session.whenConnected();
    expect(await stateOf(waiting)).toBe('pending');
    session.connected(handshake());
    expect(await stateOf(waiting)).toBe('resolved');
  });

  it('ends with the signal, and leaves no listener', async () => {
    const controller = new AbortController();
    session.disconnected();
    const waiting = session.whenConnected(controller.signal);
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('a persistent request', () => {
  it('is sent once when it is answered', async () => {
    const request = vi.fn<() => Promise<string>>(async () => 'answer');
    await expect(session.persistently(request)).resolves.toBe('answer');
    expect(request).toHaveBeenCalledOnce();
  });

  it('is sent again on the next connection when the last one was lost', async () => {
    const request = vi.fn<() => Promise<string>>(async () => 'answer');
    request.mockImplementationOnce(async () => {
      session.disconnected();
      throw loss();
    });
    const asking = session.persistently(request);
    expect(await stateOf(asking)).toBe('pending');
    expect(request).toHaveBeenCalledOnce();
    session.connected(handshake());
    await expect(asking).resolves.toBe('answer');
    expect(request).toHaveBeenCalledTimes(2);
  });

  it.each([new KeeperError(ErrorCode.noNode), new Error('of the caller')])(
    'ends with another error: %s',
    async (error) => {
      const request = vi.fn<() => Promise<never>>(() => Promise.reject(error));
      await expect(session.persistently(request)).rejects.toBe(error);
      expect(request).toHaveBeenCalledOnce();
    },
  );

  it('ends with the signal while it is unanswered', async () => {
    const controller = new AbortController();
    const asking = session.persistently(() => new Promise(() => {}), controller.signal);
    await vi.advanceTimersByTimeAsync(0);
    controller.abort('enough');
    await expect(asking).rejects.toBe('enough');
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('a sure request', () => {
  const refusal = (code: number) => Promise.reject(new KeeperError(code));

  it('is sent again after a pause when it is refused temporarily', async () => {
    const request = vi.fn<() => Promise<string>>(async () => 'answer');
    request.mockImplementationOnce(() => refusal(ErrorCode.throttled));
    const asking = session.surely(request);
    await vi.advanceTimersByTimeAsync(24);
    expect(request).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(26);
    await expect(asking).resolves.toBe('answer');
    expect(request).toHaveBeenCalledTimes(2);
  });

  it('is repeated less and less often, finally every two seconds', async () => {
    const request = vi.fn<() => Promise<never>>(() => refusal(ErrorCode.throttled));
    session.surely(request).catch(() => {});
    await vi.advanceTimersByTimeAsync(60_000);
    request.mockClear();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(request.mock.calls.length).toBeGreaterThanOrEqual(29);
    expect(request.mock.calls.length).toBeLessThanOrEqual(61);
  });

  it('is sent again at once on the next connection', async () => {
    const request = vi.fn<() => Promise<string>>(async () => 'answer');
    request.mockImplementationOnce(() => Promise.reject(loss()));
    await expect(session.surely(request)).resolves.toBe('answer');
  });

  it.each([ErrorCode.noNode, ErrorCode.noAuth, ErrorCode.invalidAcl])(
    'ends with the final refusal %i',
    async (code) => {
      const request = vi.fn<() => Promise<never>>(() => refusal(code));
      await expect(session.surely(request)).rejects.toMatchObject({ code });
      expect(request).toHaveBeenCalledOnce();
    },
  );

  it('ends with an error that is not an answer', async () => {
    const error = new TypeError('of the caller');
    await expect(session.surely(() => Promise.reject(error))).rejects.toBe(error);
  });

  it('ends with the session', async () => {
    const asking = session.surely(() => refusal(ErrorCode.throttled));
    const rejected = expect(asking).rejects.toBeInstanceOf(SessionEndedError);
    await vi.advanceTimersByTimeAsync(1_000);
    session.ended('expired');
    await rejected;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a tracked znode', () => {
  it('is told to be gone when a heartbeat finds that', async () => {
    const foundGone = vi.fn<() => void>();
    session.track(node(foundGone));
    client.errors = [ErrorCode.noNode];
    await vi.advanceTimersByTimeAsync(T / 6);
    expect(client.asked).toContain('check /a');
    expect(foundGone).toHaveBeenCalledOnce();
  });

  it('is no longer checked after it was removed', async () => {
    session.track(node()).leave();
    await vi.advanceTimersByTimeAsync(T);
    expect(new Set(client.asked)).toEqual(new Set(['ping']));
  });
});

describe('proving a session before a lease begins', () => {
  const { signal } = new AbortController();

  /** A server reconnects the session, and answers a transaction. */
  const take = () => {
    session.connected(handshake());
    session.answered({ sentAt: Date.now(), receivedAt: Date.now(), isQuorum: true });
  };

  it('sends no request when enough time is left', async () => {
    vi.setSystemTime(LEASE_MS - T / 6);
    await expect(session.proven(signal)).resolves.toBeUndefined();
    expect(client.asked).toEqual([]);
  });

  it('asks the servers until there is', async () => {
    session.track(node());
    vi.setSystemTime(LEASE_MS - T / 6 + 1);
    const proving = session.proven(signal);
    expect(await stateOf(proving)).toBe('pending');
    await vi.advanceTimersByTimeAsync(T / 20);
    expect(await stateOf(proving)).toBe('pending');
    expect(client.asked.filter((what) => what === 'check /a').length).toBeGreaterThanOrEqual(2);
    take();
    await vi.advanceTimersByTimeAsync(T / 20);
    expect(await stateOf(proving)).toBe('resolved');
  });

  it('asks once for all callers, and goes on when one of them has given up', async () => {
    session.track(node());
    vi.setSystemTime(LEASE_MS - T / 6 + 1);
    const impatient = new AbortController();
    const first = session.proven(impatient.signal);
    const others = Array.from({ length: 50 }, () => session.proven(signal));
    impatient.abort('enough');
    await expect(first).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(0);
    const checks = () => client.asked.filter((what) => what === 'check /a').length;
    expect(checks()).toBe(1);
    await vi.advanceTimersByTimeAsync(T / 20);
    expect(checks()).toBe(2);
    take();
    await vi.advanceTimersByTimeAsync(T / 20);
    await expect(Promise.all(others)).resolves.toHaveLength(50);
  });

  it('ends with the session', async () => {
    vi.setSystemTime(LEASE_MS);
    session.disconnected();
    const proving = session.proven(signal);
    session.ended('expired');
    await expect(proving).rejects.toMatchObject({ why: 'expired' });
  });

  it('waits for a connection', async () => {
    vi.setSystemTime(LEASE_MS);
    session.disconnected();
    const proving = session.proven(signal);
    expect(await stateOf(proving)).toBe('pending');
    expect(client.asked).toEqual([]);
    take();
    await vi.advanceTimersByTimeAsync(T / 20);
    expect(await stateOf(proving)).toBe('resolved');
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    vi.setSystemTime(LEASE_MS);
    const proving = session.proven(controller.signal);
    controller.abort('enough');
    await expect(proving).rejects.toBe('enough');
  });
});
