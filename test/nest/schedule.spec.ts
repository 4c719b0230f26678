import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { currentLease, DistributedLock } from '../../lib/index.js';
import { startApp } from './app.js';

const EVERY_SECOND = '* * * * * *';

@Injectable()
class Jobs {
  readonly ran = new Map(
    ['cronAbove', 'cronBelow', 'intervalAbove', 'intervalBelow', 'timeout'].map((job) => [
      job,
      deferred<string | undefined>(),
    ]),
  );

  @DistributedLock('cron/above')
  @Cron(EVERY_SECOND, { name: 'cronAbove' })
  async cronAbove() {
    this.note('cronAbove');
  }

  @Cron(EVERY_SECOND, { name: 'cronBelow' })
  @DistributedLock('cron/below')
  async cronBelow() {
    this.note('cronBelow');
  }

  @DistributedLock('interval/above')
  @Interval('intervalAbove', 5)
  async intervalAbove() {
    this.note('intervalAbove');
  }

  @Interval('intervalBelow', 5)
  @DistributedLock('interval/below')
  async intervalBelow() {
    this.note('intervalBelow');
  }

  @DistributedLock('timeout')
  @Timeout('timeout', 1)
  async timeout() {
    this.note('timeout');
  }

  private note(job: string): void {
    this.ran.get(job)?.resolve(currentLease()?.key);
  }
}

describe('a lock on a scheduled job', () => {
  it('is acquired by each run, above or below the schedule', async () => {
    const { app } = await startApp({ imports: [ScheduleModule.forRoot()], providers: [Jobs] });
    const keys = await Promise.all([...app.get(Jobs).ran.values()].map(({ promise }) => promise));
    expect(keys).toEqual(['cron/above', 'cron/below', 'interval/above', 'interval/below', 'timeout']);
    const registry = app.get(SchedulerRegistry);
    expect([...registry.getCronJobs().keys()]).toEqual(['cronAbove', 'cronBelow']);
  });
});
