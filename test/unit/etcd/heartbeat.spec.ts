import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { now } from '../../../lib/async/clock.js';
import { RefusedError } from '../../../lib/etcd/client/etcd-error.js';
import type { EtcdLink } from '../../../lib/etcd/client/etcd-link.js';
import { EtcdKeys } from '../../../lib/etcd/session/etcd-keys.js';
import { EtcdSession } from '../../../lib/etcd/session/etcd-session.js';
import { Heartbeat } from '../../../lib/etcd/session/heartbeat.js';

const TTL = 10;
const NOTHING_FOUND = { kind: 'read', found: [], hasMore: false, count: 0, revision: 1 } as const;
const FOUND = { ...NOTHING_FOUND, found: [{ modified: 1 }] };

function setUp(ageMs = 5_000) {
  const provenAt = now() - ageMs;
  const keys = new EtcdKeys('locks');
  const session = new EtcdSession(7n, { keys, timeoutMs: TTL * 1_000, provenAt, onDoubt() {} });
  const link = { keepAlive: vi.fn(), range: vi.fn(), close: vi.fn() };
  const proof = { key: session.key, revision: 1, lease: 7n };
  const options = { link: link as unknown as EtcdLink, proof, everyMs: 1_000 };
  const onBeat = vi.fn();
  const heartbeat = new Heartbeat(session, options, onBeat);
  onTestFinished(() => heartbeat.stop());
  return { session, link, heartbeat, onBeat, before: session.deadline };
}

describe('a heartbeat', () => {
  it('proves the session from the sending of the renewal, not from its answer', async () => {
    const { session, link, heartbeat, before } = setUp();
    const renewed = deferred<object>();
    link.keepAlive.mockReturnValue(renewed.promise);
    link.range.mockResolvedValue({ ...FOUND, term: 3 });
    const sentAt = now();
    const beat = heartbeat.beat();
    await new Promise((resolve) => setTimeout(resolve, 60));
    renewed.resolve({ ttl: TTL, term: 3 });
    expect(await beat).toBe('proven');
    expect(session.deadline).toBeGreaterThan(before);
    expect(session.deadline).toBeLessThanOrEqual(sentAt + 50 + TTL * 1_000 * 0.98 - 15);
  });

  it('proves nothing while the read after the renewal is not answered', async () => {
    const { session, link, heartbeat, before } = setUp();
    const read = deferred<object>();
    link.keepAlive.mockResolvedValue({ ttl: TTL, term: 3 });
    link.range.mockReturnValue(read.promise);
    const beat = heartbeat.beat();
    await vi.waitFor(() => expect(link.range).toHaveBeenCalled());
    expect(session.deadline).toBe(before);
    read.resolve({ ...FOUND, term: 3 });
    expect(await beat).toBe('proven');
  });

  it('reads after the renewal was answered, and not before', async () => {
    const { link, heartbeat } = setUp();
    const renewed = deferred<object>();
    link.keepAlive.mockReturnValue(renewed.promise);
    link.range.mockResolvedValue({ ...FOUND, term: 3 });
    const beat = heartbeat.beat();
    await new Promise(setImmediate);
    expect(link.range).not.toHaveBeenCalled();
    renewed.resolve({ ttl: TTL, term: 3 });
    await beat;
    expect(link.range).toHaveBeenCalledOnce();
  });

  it('proves nothing when the read was answered in another term', async () => {
    const { session, link, heartbeat, before } = setUp();
    link.keepAlive.mockResolvedValue({ ttl: TTL, term: 3 });
    link.range.mockResolvedValue({ ...FOUND, term: 4 });
    expect(await heartbeat.beat()).toBe('unproven');
    expect(session.deadline).toBe(before);
  });

  it.each([
    ['the lease has no time left', { ttl: 0, term: 3 }, { ...FOUND, term: 3 }],
    ['the key of the session is gone', { ttl: TTL, term: 3 }, { ...NOTHING_FOUND, term: 3 }],
  ])('finds the session over when %s', async (_, renewed, read) => {
    const { link, heartbeat } = setUp();
    link.keepAlive.mockResolvedValue(renewed);
    link.range.mockResolvedValue(read);
    expect(await heartbeat.beat()).toBe('over');
  });

  it('finds a session over whose deadline has passed: its leases are lost already', async () => {
    const { session, link, heartbeat } = setUp(TTL * 1_000);
    const { deadline } = session;
    link.keepAlive.mockResolvedValue({ ttl: TTL, term: 3 });
    link.range.mockResolvedValue({ ...FOUND, term: 3 });
    expect(await heartbeat.beat()).toBe('over');
    expect(session.deadline).toBe(deadline);
  });

  it.each([
    ['over whose deadline has passed', TTL * 1_000, 'over'],
    ['not over whose deadline has not passed', 5_000, 'unproven'],
  ])('finds a session %s, while the read after each renewal is refused', async (_, ageMs, beat) => {
    const { link, heartbeat, onBeat } = setUp(ageMs);
    link.keepAlive.mockResolvedValue({ ttl: TTL, term: 3 });
    const refusal = new RefusedError('PERMISSION_DENIED', 'etcdserver: permission denied');
    link.range.mockRejectedValue(refusal);
    heartbeat.hurry();
    await new Promise(setImmediate);
    expect(link.range).toHaveBeenCalledOnce();
    expect(onBeat.mock.calls).toEqual([[beat]]);
    // A session that is to continue on another link learns of the refusal.
    await expect(heartbeat.beat()).rejects.toBe(refusal);
  });

  it('closes a link that the session is not bound to any more', async () => {
    const { session, link, heartbeat, before } = setUp();
    link.keepAlive.mockResolvedValue({ ttl: TTL, term: 3 });
    link.range.mockResolvedValue({ ...FOUND, found: [{ modified: 2 }], term: 3 });
    expect(await heartbeat.beat()).toBe('proven');
    expect(session.deadline).toBeGreaterThan(before);
    expect(link.close).toHaveBeenCalledWith('the session was bound to another connection');
  });

  it('keeps a link on which the renewal was answered late, and the read just sent', async () => {
    const { link, heartbeat } = setUp();
    vi.useFakeTimers();
    try {
      const renewed = deferred<object>();
      link.keepAlive.mockReturnValue(renewed.promise);
      link.range.mockReturnValue(new Promise(() => {}));
      heartbeat.start();
      vi.advanceTimersByTime(1_010);
      // The timer comes first, and then the socket is read.
      vi.advanceTimersToNextTimer();
      renewed.resolve({ ttl: TTL, term: 3 });
      await vi.advanceTimersByTimeAsync(10);
      expect(link.range).toHaveBeenCalledOnce();
      expect(link.close).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(link.close).toHaveBeenCalledWith('the server does not answer');
    } finally {
      heartbeat.stop();
      vi.useRealTimers();
    }
  });

  it('closes a link on which the last one is unanswered', async () => {
    const { link, heartbeat } = setUp();
    vi.useFakeTimers();
    try {
      link.keepAlive.mockReturnValue(new Promise(() => {}));
      heartbeat.start();
      vi.advanceTimersByTime(1_010);
      expect(link.close).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1_010);
      expect(link.close).toHaveBeenCalledWith('the server does not answer');
    } finally {
      heartbeat.stop();
      vi.useRealTimers();
    }
  });
});
