import { Logger } from '@nestjs/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import {
  LockConfigurationError,
  LockLostError,
  LockOverdueError,
  LockUnavailableError,
} from '../../../lib/contract/errors.js';
import type { CronLockOptions } from '../../../lib/schedule/cron-lock.options.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import { currentLease } from '../../../lib/service/hold-scope.js';
import { blocking, cluster, die, KEY, LOCK, TICK } from './cluster.js';
import { jobWith } from './jobs.js';
import { connectionOf } from '../../../lib/service/lock.service.js';

const nothing = async () => {};

describe('a firing', () => {
  it('runs the method under a lease on its key, as the run of its nominal tick', async () => {
    const { one } = cluster(1);
    const result = await one.jobs.fire(jobWith(), async () => [currentLease()?.key, currentRun()?.tick]);
    expect(result).toEqual([KEY, new Date(TICK)]);
    expect(currentRun()).toBeUndefined();
    expect(one.events.map(({ type }) => type)).toEqual(['started', 'finished']);
    expect(await one.runs.last('daily')).toMatchObject({ key: KEY, tick: new Date(TICK), state: 'done', attempt: 1 });
  });

  it('is skipped when its tick, or a later one, is taken', async () => {
    const { one, other, clock } = cluster(2);
    const ran = vi.fn<() => Promise<void>>(nothing);
    await one.jobs.fire(jobWith(), ran);
    expect(await other.jobs.fire(jobWith(), ran)).toBeUndefined();
    clock.now -= 3_000;
    expect(await other.jobs.fire(jobWith(), ran)).toBeUndefined();
    expect(other.skips).toEqual(['taken', 'taken']);
    expect(ran).toHaveBeenCalledTimes(1);
  });

  it('is skipped with a warning when the taken tick is far ahead of its own clock', async () => {
    const { one, other, clock } = cluster(2);
    await one.jobs.fire(jobWith(), nothing);
    const warn = vi.spyOn(Logger.prototype, 'warn');
    onTestFinished(() => warn.mockRestore());
    clock.now -= 60_000;
    await other.jobs.fire(jobWith(), nothing);
    expect(warn).not.toHaveBeenCalled();
    clock.now -= 1_000;
    await other.jobs.fire(jobWith(), nothing);
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^daily: .* ahead of this clock/));
    expect(other.skips).toEqual(['taken', 'taken']);
  });

  it('is skipped in every event, and in one line of the log', async () => {
    const { one, other } = cluster(2);
    const job = { ...jobWith(), name: 'every second' };
    await one.jobs.fire(job, nothing);
    const debug = vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
    onTestFinished(() => debug.mockRestore());
    for (let call = 0; call < 20; call++) await other.jobs.fire(job, nothing);
    expect(other.skips).toEqual(Array.from({ length: 20 }, () => 'taken'));
    expect(debug.mock.calls).toEqual([[expect.stringMatching(/^every second of .* was skipped: taken$/)]]);
  });

  it('does not ask for the lock when the tick is taken', async () => {
    const { one, other, backend } = cluster(2);
    await one.jobs.fire(jobWith(), nothing);
    const asked = backend.requests.length;
    await other.jobs.fire(jobWith(), nothing);
    expect(backend.requests).toHaveLength(asked);
  });

  it.each<CronLockOptions>([{}, { onCrash: 'rerun' }])(
    'still runs after another instance held the lock only to look: %j',
    async (options) => {
      const { one, other, backend } = cluster(2);
      const looking = await connectionOf(other.locks).jobLock(KEY, 'fifo').acquire();
      const firing = one.jobs.fire(jobWith(options), async () => 'ran');
      await vi.waitUntil(() => backend.requests.length > 2, 30_000);
      await looking.release();
      expect(await firing).toBe('ran');
    },
  );

  it('still runs after another instance looked at a crashed earlier run', async () => {
    const { one, other, backend, clock } = cluster(2);
    const crashed = blocking();
    void one.jobs.fire(jobWith(), crashed.body).catch(() => {});
    await crashed.entered;
    await die(backend);
    clock.now += 1_000;
    const looking = await connectionOf(other.locks).jobLock(KEY, 'fifo').acquire();
    const firing = other.jobs.fire(jobWith(), async () => 'ran');
    await vi.waitUntil(() => backend.requests.length > 3, 30_000);
    await looking.release();
    expect(await firing).toBe('ran');
    expect(other.events[0]).toMatchObject({ type: 'crashed', run: { state: 'crashed', tick: new Date(TICK) } });
  });

  it('is skipped while an earlier run goes on, here or elsewhere', async () => {
    const { one, other, clock } = cluster(2);
    const { body, entered, end } = blocking();
    const running = one.jobs.fire(jobWith(), body);
    await entered;
    clock.now += 1_000;
    expect(await Promise.all([one, other].map(({ jobs }) => jobs.fire(jobWith(), nothing)))).toEqual([
      undefined,
      undefined,
    ]);
    expect([one.skips, other.skips]).toEqual([['overrun'], ['overrun']]);
    end('done');
    expect(await running).toBe('done');
  });

  it('is superseded by the next one while it is undecided', async () => {
    const { one, other, clock } = cluster(2);
    const looking = await connectionOf(other.locks).jobLock(KEY, 'fifo').acquire();
    const first = one.jobs.fire(jobWith(), async () => 'first');
    clock.now += 1_000;
    const second = one.jobs.fire(jobWith(), async () => currentRun()?.tick);
    expect(await first).toBeUndefined();
    await looking.release();
    expect(await second).toEqual(new Date(TICK + 1_000));
    expect(one.skips).toEqual(['superseded']);
  });

  it('is the current run of its calls only until it has ended', async () => {
    const { one } = cluster(1);
    const mayLook = deferred();
    let outlives: Promise<unknown> | undefined;
    await one.jobs.fire(jobWith(), async () => {
      outlives = mayLook.promise.then(() => currentRun());
    });
    mayLook.resolve();
    expect(await outlives).toBeUndefined();
  });

  it('does not hold the lock that the application has under its key', async () => {
    const { one, other, backend } = cluster(2);
    await using _others = await other.locks.acquire(KEY);
    const body = async () => [await one.locks.tryAcquire(KEY), backend.leaseOn(LOCK)?.isHeld()];
    expect(await one.jobs.fire(jobWith(), body)).toEqual([null, true]);
  });

  it('is not reported as crashed when it ends during a look-up', async () => {
    const { one, other, backend } = cluster(2);
    const { body, entered, end } = blocking();
    const running = one.jobs.fire(jobWith(), body);
    await entered;
    const acquire = backend.acquire.bind(backend);
    vi.spyOn(backend, 'acquire').mockImplementationOnce(async (request) => {
      end('done');
      await running;
      return acquire(request);
    });
    expect(await other.runs.last('daily')).toMatchObject({ state: 'done' });
  });

  it('overwrites an invalid marker', async () => {
    const { one, backend } = cluster(1);
    await backend.records.write([{ name: 'cron/test/cron%2Fdaily', value: '{"name":1}' }]);
    expect(await one.runs.list()).toEqual([]);
    expect(await one.jobs.fire(jobWith(), async () => 'ran')).toBe('ran');
    expect(await one.runs.list()).toHaveLength(1);
  });
});

describe('an error of the method', () => {
  it('reaches the caller unchanged, is recorded, and goes no further', async () => {
    const { one, clock } = cluster(1);
    const error = new LockUnavailableError('its own');
    await expect(one.jobs.fire(jobWith(), () => Promise.reject(error))).rejects.toBe(error);
    expect(await one.runs.last('daily')).toMatchObject({ state: 'failed', error: 'LockUnavailableError: its own' });
    expect(one.skips).toEqual([]);
    clock.now += 1_000;
    expect(await one.jobs.fire(jobWith(), async () => 'next')).toBe('next');
  });

  it('is not replaced when it has no text', async () => {
    const { one } = cluster(1);
    const error: unknown = Object.create(null);
    await expect(one.jobs.fire(jobWith(), () => Promise.reject(error))).rejects.toBe(error);
    expect(await one.runs.last('daily')).toMatchObject({ state: 'failed' });
  });

  it('may be thrown, and may be an error of the lock itself', async () => {
    const { one } = cluster(1);
    const fail = () => {
      throw new LockConfigurationError('its own');
    };
    await expect(one.jobs.fire(jobWith(), fail)).rejects.toThrow('its own');
  });
});

describe('servers that cannot be asked', () => {
  const unavailable = new LockUnavailableError('no server');

  it.each(['read', 'write'] as const)('keep the method from running: %s', async (request) => {
    const { one, backend } = cluster(1);
    vi.spyOn(backend.records, request).mockRejectedValueOnce(unavailable);
    const ran = vi.fn<() => Promise<void>>(nothing);
    expect(await one.jobs.fire(jobWith(), ran)).toBeUndefined();
    expect(one.events).toMatchObject([{ type: 'skipped', reason: 'unavailable', error: unavailable }]);
    expect(ran).not.toHaveBeenCalled();
  });

  it("make the firing reject with onUnavailable: 'throw'", async () => {
    const { one, backend } = cluster(1);
    vi.spyOn(backend, 'acquire').mockRejectedValueOnce(unavailable);
    await expect(one.jobs.fire(jobWith({ onUnavailable: 'throw' }), nothing)).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
      key: 'cron/daily',
      message: '"cron/daily": no server',
    });
    expect(one.skips).toEqual(['unavailable']);
  });

  it('are asked again to record the end of a run while its lease is held', async () => {
    const { one, backend } = cluster(1);
    const write = vi.spyOn(backend.records, 'write');
    await one.jobs.fire(jobWith(), async () => void write.mockRejectedValueOnce(unavailable));
    expect(await one.runs.last('daily')).toMatchObject({ state: 'done' });
  });

  it('are asked again only after a pause, even when the lease was revoked meanwhile', async () => {
    const { one, backend } = cluster(1);
    const write = vi.spyOn(backend.records, 'write');
    let retries = 0;
    await one.jobs.fire(jobWith(), async () => {
      backend.leaseOn(LOCK)?.revoke();
      const again = backend.records.write.bind(backend.records);
      const until = setTimeout(() => write.mockRestore(), 50);
      write.mockImplementation(async (changes) => {
        if (++retries < 1_000) throw unavailable;
        clearTimeout(until);
        write.mockRestore();
        return again(changes);
      });
    });
    expect(retries).toBeLessThan(10);
    expect(await one.runs.last('daily')).toMatchObject({ state: 'done' });
  });

  it('do not hide a configuration error: a bad key rejects', async () => {
    const { one, backend } = cluster(1);
    vi.spyOn(backend.records, 'read').mockRejectedValueOnce(new LockConfigurationError('bad key'));
    await expect(one.jobs.fire(jobWith(), nothing)).rejects.toThrow('bad key');
  });
});

describe('a lease that is lost while the method runs', () => {
  async function lostRun(options: CronLockOptions) {
    const { one, backend } = cluster(1);
    const { body, entered, end } = blocking();
    const running = one.jobs.fire(jobWith(options), body);
    running.catch(() => {});
    const { lease } = await entered;
    backend.leaseOn(LOCK)?.lose(new LockLostError(KEY, 'test'));
    end('result');
    return { one, running, lease };
  }

  it('aborts its signal, and is reported to the caller and to the registry', async () => {
    const { one, running, lease } = await lostRun({});
    expect(lease?.signal.reason).toBeInstanceOf(LockLostError);
    expect(lease?.isHeld()).toBe(false);
    await expect(running).rejects.toBeInstanceOf(LockLostError);
    expect(await one.runs.last('daily')).toMatchObject({ state: 'lost' });
  });

  it('prevents the method when it is lost right before', async () => {
    const { one, backend } = cluster(1);
    const write = backend.records.write.bind(backend.records);
    vi.spyOn(backend.records, 'write').mockImplementationOnce((changes) => {
      backend.leaseOn(LOCK)?.lose(new LockLostError(KEY, 'test'));
      return write(changes);
    });
    const ran = vi.fn<() => Promise<void>>(nothing);
    expect(await one.jobs.fire(jobWith(), ran)).toBeUndefined();
    expect(one.events).toMatchObject([{ reason: 'unavailable', error: { code: 'LOCK_LOST' } }]);
    expect(ran).not.toHaveBeenCalled();
    expect(await one.runs.last('daily')).toMatchObject({ state: 'crashed' });
  });

  it("lets the result pass with onLost: 'ignore'", async () => {
    const { running } = await lostRun({ onLost: 'ignore' });
    expect(await running).toBe('result');
  });
});

describe('a run that takes longer than atMostMs', () => {
  it('is asked to stop by its signal, and keeps its lock until it has ended', async () => {
    const { one, other, clock } = cluster(2);
    const { body, entered, end } = blocking();
    const running = one.jobs.fire(jobWith({ atMostMs: 20 }), body);
    const { lease } = await entered;
    await vi.waitUntil(() => lease?.signal.aborted, 30_000);
    expect(lease?.signal.reason).toBeInstanceOf(LockOverdueError);
    expect([lease?.state, lease?.isHeld()]).toEqual(['revoking', true]);
    clock.now += 1_000;
    await other.jobs.fire(jobWith(), nothing);
    expect(other.skips).toEqual(['overrun']);
    end('late');
    expect(await running).toBe('late');
    expect(one.events.map(({ type }) => type)).toEqual(['started', 'overdue', 'finished']);
  });

  it('leaves no timer when it ends in time', async () => {
    const { one } = cluster(1);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await one.jobs.fire(jobWith({ atMostMs: 20 }), async () => expect(vi.getTimerCount()).toBe(1));
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("an instance that dies in a run, with onCrash: 'skip'", () => {
  it('costs that tick, and no other', async () => {
    const { one, other, backend, clock } = cluster(2);
    const crashed = blocking();
    void one.jobs.fire(jobWith(), crashed.body).catch(() => {});
    await crashed.entered;
    expect(await other.runs.last('daily')).toMatchObject({ state: 'running' });
    await die(backend);
    expect(await other.runs.last('daily')).toMatchObject({ state: 'crashed', durationMs: undefined });
    expect(await other.jobs.fire(jobWith(), nothing)).toBeUndefined();
    clock.now += 1_000;
    expect(await other.jobs.fire(jobWith(), async () => 'next')).toBe('next');
    expect(other.skips).toEqual(['taken']);
  });
});
