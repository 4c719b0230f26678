import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { LockLostError, LockUnavailableError } from '../../../lib/contract/errors.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import { connectionOf } from '../../../lib/service/lock.service.js';
import { startLocks } from '../service/locks.js';
import { blocking, cluster, die, KEY, LOCK, TICK } from './cluster.js';
import { jobWith } from './jobs.js';

const job = jobWith({ onCrash: 'rerun' });
const AWAY = new LockUnavailableError('no server', { key: KEY });

/** A body that remembers the ticks and the attempts that it was called for. */
function counting() {
  const runs: unknown[] = [];
  const body = async () => void runs.push([currentRun()?.tick?.getTime(), currentRun()?.attempt]);
  return { runs, body };
}

/** One node has died in a run, and the servers are away for the next node that looks, until `back` is called. */
async function died(error: Error = AWAY) {
  const all = cluster(2);
  const { backend } = all;
  const holder = blocking();
  const held = all.one.jobs.fire(job, holder.body).catch(() => {});
  await holder.entered;
  await die(backend);
  const asked = vi.spyOn(backend, 'acquire').mockRejectedValue(error);
  const read = vi.spyOn(backend.records, 'read').mockRejectedValueOnce(error);
  onTestFinished(async () => {
    holder.end('late');
    await held;
  });
  const back = () => {
    asked.mockRestore();
    read.mockRestore();
  };
  return { ...all, asked, back };
}

describe("an instance that is to finish another's run while the servers are away", () => {
  // Only pauses: nothing else here waits for a timer.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  it.each([AWAY, new LockLostError(KEY, 'died')])('asks again after pauses, and finishes it: %s', async (error) => {
    const { other, asked, back } = await died(error);
    const { runs, body } = counting();
    await other.jobs.resume(job, body);
    await vi.waitUntil(() => asked.mock.calls.length === 1);
    await vi.advanceTimersByTimeAsync(40);
    expect(asked).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60);
    expect(asked).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(45);
    expect(asked).toHaveBeenCalledTimes(2);
    back();
    await vi.advanceTimersByTimeAsync(160);
    await vi.waitUntil(() => runs.length > 0);
    expect(runs).toEqual([[TICK, 2]]);
  });

  it('finishes it after it has waited in the queue, too', async () => {
    const { backend, one, other } = cluster(2);
    const holder = blocking();
    const held = one.jobs.fire(job, holder.body).catch(() => {});
    await holder.entered;
    const { runs, body } = counting();
    await other.jobs.fire(job, body);
    await backend.standing(LOCK, 2);
    vi.spyOn(backend.records, 'read').mockRejectedValueOnce(AWAY);
    await die(backend);
    await backend.standing(LOCK, 0);
    expect(runs).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    await vi.waitUntil(() => runs.length > 0);
    expect(runs).toEqual([[TICK, 2]]);
    holder.end('late');
    await held;
  });

  it('runs the tick of a firing between two attempts, after the unfinished one', async () => {
    const { other, asked, back, clock } = await died();
    const { runs, body } = counting();
    await other.jobs.resume(job, body);
    await vi.waitUntil(() => asked.mock.calls.length === 1);
    back();
    clock.now += 1_000;
    await other.jobs.fire(job, body);
    expect(runs).toEqual([
      [TICK, 2],
      [TICK + 1_000, 1],
    ]);
    await vi.advanceTimersByTimeAsync(100);
    expect(runs).toHaveLength(2);
  });

  it('stops at once when the application ends', async () => {
    const { other, asked } = await died();
    const { runs, body } = counting();
    await other.jobs.resume(job, body);
    await vi.waitUntil(() => asked.mock.calls.length === 1);
    const completed = deferred();
    other.runs.events.subscribe({ complete: () => completed.resolve() });
    other.runs.onModuleDestroy();
    other.runs.onApplicationShutdown();
    // No timer has fired.
    await completed.promise;
    expect([asked.mock.calls.length, runs]).toEqual([1, []]);
  });
});

describe('the lock of a job', () => {
  it('is not kept warm: it would be in the way of the next firing elsewhere', async () => {
    const { locks, backend } = startLocks({ keepMs: 60_000, localLine: true });
    const lease = await connectionOf(locks).jobLock(KEY, 'fifo').acquire();
    expect(backend.requests).toMatchObject([{ keeps: false }]);
    await lease.release();
    expect(backend.busyKeys).toEqual([]);
  });
});
