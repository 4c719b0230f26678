import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { CronRunsService } from '../../lib/schedule/cron-runs.service.js';
import { currentRun } from '../../lib/schedule/current-run.js';
import { guardedJobsOf } from '../../lib/schedule/guarded-jobs.js';
import { deferred } from '../../lib/async/deferred.js';
import type { JobEvent } from '../../lib/contract/job-event.js';
import type { Schedule } from '../../lib/schedule/schedule.js';
import { freshBasePath } from '../support/base-path.js';
import { eventually } from '../support/eventually.js';
import { closeService, openService } from '../support/services.js';
import type { ServiceOptions } from '../support/services.js';
import { jobWith } from '../unit/schedule/jobs.js';

const connectString = inject('zookeeper');
const HOUR_MS = 3_600_000;
const followingOf = () => (instant: number) => (Math.floor(instant / HOUR_MS) + 1) * HOUR_MS;
const EVERY_SECOND: Schedule = { kind: 'interval', ms: 1_000 };

/** One instance of a cluster, whose wall clock is ahead by `aheadMs`. */
async function openInstance(options: ServiceOptions, aheadMs = 0) {
  const locks = await openService(options);
  const runs = new CronRunsService(locks, { followingOf }, () => Date.now() + aheadMs);
  const events: JobEvent[] = [];
  runs.events.subscribe((event) => events.push(event));
  return { locks, runs, jobs: guardedJobsOf(locks)!, events };
}

const reasonsOf = (events: readonly JobEvent[]) =>
  events.map((event) => (event.type === 'skipped' ? event.reason : event.type));

describe('jobs on ZooKeeper', () => {
  it('are listed by any instance, with their outcomes', async () => {
    const basePath = freshBasePath();
    const [one, other] = [
      await openInstance({ connectString, basePath }),
      await openInstance({ connectString, basePath }),
    ];
    expect(await one.runs.list()).toEqual([]);
    await one.jobs.fire(jobWith({ key: 'jobs/a' }), async () => {});
    await expect(one.jobs.fire(jobWith({ key: 'b' }), () => Promise.reject(new Error('its own')))).rejects.toThrow(
      'its own',
    );
    const list = await other.runs.list();
    expect(Object.fromEntries(list.map(({ key, state, error }) => [key, [state, error]]))).toEqual({
      b: ['failed', 'Error: its own'],
      'jobs/a': ['done', undefined],
    });
    expect(await other.runs.last('jobs/a')).toEqual(list.find(({ key }) => key === 'jobs/a'));
    expect(await other.runs.forget('jobs/a')).toBe(true);
    expect(await one.runs.last('jobs/a')).toBeUndefined();
    expect(await one.runs.forget('jobs/a')).toBe(false);
  });

  it("keep their distance on the servers' clock, whatever the instances' clocks say", async () => {
    const basePath = freshBasePath();
    const ahead = await openInstance({ connectString, basePath }, 5 * HOUR_MS);
    const behind = await openInstance({ connectString, basePath }, -5 * HOUR_MS);
    const job = jobWith({ atLeastMs: 1_500 }, EVERY_SECOND);
    const started: Date[] = [];
    const body = async () => void started.push(currentRun()!.startedAt);
    await vi.waitUntil(
      async () => {
        await ahead.jobs.fire(job, body);
        await behind.jobs.fire(job, body);
        return started.length === 3;
      },
      { timeout: 30_000, interval: 100 },
    );
    const [first, second, third] = started.map((date) => date.getTime()) as [number, number, number];
    expect([second - first >= 1_500, third - second >= 1_500]).toEqual([true, true]);
    expect(reasonsOf([...ahead.events, ...behind.events])).toContain('early');
  });

  it("are crashed once the runner's session has ended, and are rerun with onCrash: 'rerun'", async () => {
    const basePath = freshBasePath();
    const [one, other] = [
      await openInstance({ connectString, basePath }),
      await openInstance({ connectString, basePath }),
    ];
    const job = jobWith({ onCrash: 'rerun' });
    const entered = deferred();
    const mayEnd = deferred();
    const held = one.jobs.fire(job, () => (entered.resolve(), mayEnd.promise));
    held.catch(() => {});
    await entered.promise;
    expect(await other.runs.last('daily')).toMatchObject({ state: 'running', attempt: 1 });
    await closeService(one.locks);
    expect(await other.runs.last('daily')).toMatchObject({ state: 'crashed', attempt: 1 });
    await other.jobs.fire(job, async () => {});
    const done = await eventually(async () => {
      const run = await other.runs.last('daily');
      return run?.state === 'done' ? run : undefined;
    }, 'a run that is done');
    expect(done.attempt).toBe(2);
    mayEnd.resolve();
    await expect(held).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
    expect(await other.runs.last('daily')).toEqual(done);
  });

  it('do not run without a server, and run again with one', async () => {
    const server = await ZooKeeperServer.start({ tickTimeMs: 500 });
    onTestFinished(() => server.stop());
    const { jobs, events } = await openInstance({ connectString: server.connectString, connectTimeoutMs: 1_000 });
    const ran = vi.fn<() => Promise<void>>(async () => {});
    await server.kill();
    expect(await jobs.fire(jobWith(), ran)).toBeUndefined();
    await expect(jobs.fire(jobWith({ key: 'b', onUnavailable: 'throw' }), ran)).rejects.toMatchObject({
      code: 'LOCK_UNAVAILABLE',
    });
    expect([ran.mock.calls.length, reasonsOf(events)]).toEqual([0, ['unavailable', 'unavailable']]);
    await server.restart();
    await eventually(async () => {
      await jobs.fire(jobWith(), ran);
      return ran.mock.calls.length === 1 || undefined;
    }, 'a run');
  });
});
