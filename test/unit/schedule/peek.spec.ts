import { describe, expect, it } from 'vitest';
import { blocking, cluster, die, LOCK } from './cluster.js';
import { jobWith } from './jobs.js';

const JOB = jobWith();

describe('CronRunsService.peek', () => {
  it('shows the latest run, and whether it is going on', async () => {
    const { one, other } = cluster(2);
    expect(await other.runs.peek()).toEqual([]);
    const run = blocking();
    const fired = one.jobs.fire(JOB, run.body);
    await run.entered;
    expect(await other.runs.peek()).toMatchObject([{ key: 'cron/daily', state: 'running', isRunning: true }]);
    run.end('done');
    await fired;
    expect(await other.runs.peek()).toMatchObject([{ state: 'done', isRunning: false }]);
  });

  it('acquires no lock, also while none is held', async () => {
    const { one, other, backend } = cluster(2);
    const run = blocking();
    void one.jobs.fire(JOB, run.body).catch(() => {});
    await run.entered;
    await die(backend);
    const before = backend.requests.length;
    expect(await other.runs.peek()).toMatchObject([{ state: 'crashed', isRunning: false }]);
    expect(backend.requests.slice(before).filter(({ key }) => key === LOCK)).toEqual([]);
    // `list` does, so this would be seen.
    await other.runs.list();
    expect(backend.requests.slice(before).filter(({ key }) => key === LOCK)).toHaveLength(1);
    run.end(undefined);
  });
});
