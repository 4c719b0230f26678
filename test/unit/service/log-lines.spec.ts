import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { MockInstance } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError, LockShutdownError, LockUnavailableError } from '../../../lib/contract/errors.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';
import { settled } from '../local/callers.js';
import { closeService } from '../../support/plain-service.js';
import { startLocks } from './locks.js';

let warn: MockInstance<Logger['warn']>;
let error: MockInstance<Logger['error']>;

/** Each line with its context. */
const linesOf = ({ mock }: typeof warn) =>
  mock.calls.map(([message], call) => {
    const { context } = mock.contexts[call] as unknown as { context: string };
    return `${context}: ${String(message)}`;
  });
const lines = () => linesOf(warn);
const errors = () => linesOf(error);

beforeEach(() => {
  warn = vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
  error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
  return () => {
    warn.mockRestore();
    error.mockRestore();
    vi.useRealTimers();
  };
});

const lose = (backend: MemoryBackend, keys: readonly string[], reason: string) =>
  keys.forEach((key) => backend.leaseOn(key)?.lose(new LockLostError(key, reason)));

describe('a lost lease', () => {
  it('is logged in one line with key, label, time of acquisition, and reason', async () => {
    const { locks, backend } = startLocks();
    await locks.acquire('orders/42', { label: 'Orders.place' });
    lose(backend, ['orders/42'], 'the session is over (expired)');
    await settled();
    expect(errors()).toEqual([
      expect.stringMatching(
        /^LockService: lost 1 lease: "orders\/42" \(Orders\.place, held since \d{4}-.*Z\)\. Reason: the session is over \(expired\)\. /,
      ),
    ]);
  });

  it('is logged in one line with all that are lost together, ten by name', async () => {
    const { locks, backend } = startLocks();
    const keys = Array.from({ length: 300 }, (_, at) => `k${at}`);
    for (const key of keys) await locks.acquire(key);
    lose(backend, keys, 'the session is over');
    await settled();
    expect(errors()).toHaveLength(1);
    expect(errors()[0]).toMatch(/lost 300 leases: "k0".*"k9" \(held since [^"]*\) and 290 more\. Reason: /);
  });

  it('is logged for work under using(), and for callers that share a contender', async () => {
    const { locks, backend } = startLocks({ localLine: true });
    const work = locks.using(
      'k',
      async () => {
        lose(backend, ['k'], 'test');
        await settled();
        expect(errors()).toEqual([expect.stringMatching(/lost 1 lease: "k" \(Orders\.place, /)]);
      },
      { label: 'Orders.place' },
    );
    await expect(work).rejects.toMatchObject({ code: 'LOCK_LOST' });
  });

  it('is logged with the name of its connection', async () => {
    const { locks, backend } = startLocks({ connectionName: 'reports' });
    await locks.acquire('k');
    lose(backend, ['k'], 'test');
    await settled();
    expect(errors()).toEqual([expect.stringMatching(/^LockService:reports: lost 1 lease/)]);
  });

  it('is an error only if nobody has wanted the loss', async () => {
    const { locks } = startLocks();
    const lease = await locks.acquire('k', { label: 'Orders.place' });
    await locks.revoke('k', { graceMs: 0 });
    await settled();
    expect(lease.state).toBe('lost');
    expect(errors()).toEqual([]);
    expect(lines()).toEqual([expect.stringMatching(/^LockService: lost 1 lease: "k" \(Orders\.place, /)]);
  });

  it('is logged apart from those that were revoked at the same moment', async () => {
    const { locks, backend } = startLocks();
    for (const key of ['a', 'b']) await locks.acquire(key);
    backend.leaseOn('a')?.revoke();
    lose(backend, ['a', 'b'], 'test');
    await settled();
    expect([lines(), errors()]).toEqual([
      [expect.stringContaining('lost 1 lease: "a"')],
      [expect.stringContaining('lost 1 lease: "b"')],
    ]);
  });
});

describe('close()', () => {
  it('logs once a second which leases it waits for, and nothing more once they are released', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { locks } = startLocks();
    const leases = [await locks.acquire('a', { label: 'Orders.place' }), await locks.acquire('b')];
    const closing = closeService(locks);
    expect(lines()).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(lines()).toEqual([
      expect.stringMatching(
        /app\.close\(\) waits for 2 leases: "a" \(Orders\.place, held since .*\), "b" \(held since .*\)\. At most \d+ s more/,
      ),
    ]);
    await leases[0]?.release();
    vi.advanceTimersByTime(1_000);
    expect(lines()[1]).toMatch(/for 1 lease: "b" \(/);
    await leases[1]?.release();
    await closing;
    vi.advanceTimersByTime(10_000);
    expect(lines()).toHaveLength(2);
  });

  it('logs the leases that it ends after drainTimeoutMs, without reporting a loss', async () => {
    const { locks } = startLocks({ drainTimeoutMs: 1 });
    await locks.acquire('a', { label: 'Orders.place' });
    await closeService(locks);
    await settled();
    expect(lines()).toEqual([
      expect.stringMatching(
        /app\.close\(\) has taken away 1 lease: "a" \(Orders\.place, .*\); not given back within 1 ms \(drainTimeoutMs\)\./,
      ),
    ]);
  });

  it('logs nothing when no lease is held, or all are released at once', async () => {
    const { locks } = startLocks({ keepMs: 60_000, localLine: true });
    await locks.using('kept', () => {});
    const lease = await locks.acquire('a');
    const closing = closeService(locks);
    await lease.release();
    await closing;
    expect(lines()).toEqual([]);
  });
});

describe('a connection that is missing at the start', () => {
  /** A backend on which no server grants locks. */
  class UnreachableBackend extends MemoryBackend {
    constructor(readonly error: Error) {
      super();
    }

    override connect(): Promise<void> {
      return Promise.reject(this.error);
    }

    override acquire(): Promise<never> {
      return Promise.reject(this.error);
    }
  }

  it('is logged when the application starts without it', async () => {
    const { locks, backend } = startLocks({ connectOnStart: 'background' });
    vi.spyOn(backend, 'connect').mockRejectedValue(new LockUnavailableError('no server answered'));
    await locks.onModuleInit();
    await settled();
    expect(lines()).toEqual([expect.stringMatching(/no connection yet: no server answered\. The application runs/)]);
  });

  it('is logged after two seconds, while the start waits for it', async () => {
    vi.useFakeTimers();
    const { locks, backend } = startLocks();
    const connected = deferred();
    vi.spyOn(backend, 'connect').mockReturnValue(connected.promise);
    const starting = locks.onModuleInit();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(lines()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(lines()).toEqual(['LockService: memory: no server has answered yet, still trying']);
    connected.resolve();
    await starting;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(lines()).toHaveLength(1);
  });

  it('is not logged when the application was closed meanwhile', async () => {
    const { locks, backend } = startLocks({ connectOnStart: 'background' });
    vi.spyOn(backend, 'connect').mockRejectedValue(new LockShutdownError());
    await locks.onModuleInit();
    await settled();
    expect(lines()).toEqual([]);
  });

  it.each([true, false])('fails acquisitions with errors that have their key (localLine: %s)', async (localLine) => {
    const unreachable = new UnreachableBackend(new LockUnavailableError('no server answered'));
    const { locks, backend } = startLocks({ localLine });
    vi.spyOn(backend, 'acquire').mockImplementation(() => unreachable.acquire());
    const failure = { code: 'LOCK_UNAVAILABLE', key: 'k', message: '"k": no server answered' };
    await expect(locks.using('k', () => {})).rejects.toMatchObject(failure);
    await expect(locks.acquire('k', { waitMs: 0 })).rejects.toMatchObject(failure);
    await expect(locks.tryAcquire('k')).rejects.toMatchObject(failure);
  });

  it('does not change the reason of a caller that gave up', async () => {
    const { locks } = startLocks({ localLine: true });
    await locks.acquire('k');
    const [caller, reason] = [new AbortController(), new LockUnavailableError('the caller’s own')];
    const waiting = locks.acquire('k', { signal: caller.signal });
    caller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
  });
});
