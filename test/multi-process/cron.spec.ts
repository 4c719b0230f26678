import { describe, expect, it } from 'vitest';
import { CronRunsService } from '../../lib/schedule/cron-runs.service.js';
import { eventually } from '../support/eventually.js';
import { openService } from '../support/services.js';
import { start } from './cron-cluster.js';
import type { CronMessage } from './workers/orders.js';

describe("a process that is killed in a run, with onCrash: 'rerun'", () => {
  it('is followed by another one, which finishes the tick once', async () => {
    const { workers, read, shared } = await start('hanging', [0, 0, 0]);
    workers.forEach((worker) => worker.send({ say: 'fire' } satisfies CronMessage));
    const killed = await eventually(async () => (await read()).at(0), 'a run that hangs');
    workers.find(({ pid }) => pid === killed.pid)?.signal('SIGKILL');
    await eventually(async () => (await read()).length > 2, 'a run that follows it');

    const runs = new CronRunsService(await openService(shared), { followingOf: () => () => Infinity });
    const run = await eventually(async () => {
      const last = await runs.last('hanging');
      return last?.state === 'done' ? last : undefined;
    }, 'a run that is done');
    expect(run).toMatchObject({ attempt: 2, tick: new Date(killed.tick), runner: { pid: expect.any(Number) } });
    expect(run.runner.pid).not.toBe(killed.pid);

    // The remaining processes fire again and shut down. That has no effect.
    const left = workers.filter(({ pid }) => pid !== killed.pid);
    for (const say of ['fire', 'close'] as const) left.forEach((worker) => worker.send({ say } satisfies CronMessage));
    await Promise.all(left.map((worker) => worker.succeeded()));
    expect((await read()).map(({ what, tick, attempt, pid }) => [what, tick, attempt, pid])).toEqual([
      ['begun', killed.tick, 1, killed.pid],
      ['begun', killed.tick, 2, run.runner.pid],
      ['done', killed.tick, 2, run.runner.pid],
    ]);
    expect(await runs.list()).toEqual([run]);
  });
});
