import { applyDecorators, Inject, Injectable, SetMetadata } from '@nestjs/common';
import { CronLock } from '../../../../lib/decorators/cron-lock.decorator.js';
import { currentRun } from '../../../../lib/schedule/current-run.js';
import { currentLease } from '../../../../lib/service/hold-scope.js';
import { sharedNow } from '../../../robustness/clock.js';
import type { Desk } from '../desk.js';
import { TRAFFIC_TOOLS } from '../tools.js';
import type { TrafficTools } from '../tools.js';
import { workUnder } from '../working.js';

/** Marks a method as `@Cron` of `@nestjs/schedule` does. */
const EveryTick = (name: string) =>
  applyDecorators(
    SetMetadata('SCHEDULER_TYPE', 1),
    SetMetadata('SCHEDULER_NAME', name),
    SetMetadata('SCHEDULE_CRON_OPTIONS', { name, cronTime: 'every tick' }),
  );

export const JOBS = ['once', 'again'] as const;

/** Jobs that every process fires at each tick of its own clock. One process runs each. */
@Injectable()
export class Jobs {
  constructor(@Inject(TRAFFIC_TOOLS) private readonly tools: TrafficTools) {}

  /** Runs at most once for a tick. */
  @EveryTick('once')
  @CronLock()
  async once(desk: Desk): Promise<true | undefined> {
    return this.run('once', desk);
  }

  /** Runs at least once: a process that dies is followed by another one. */
  @EveryTick('again')
  @CronLock({ onCrash: 'rerun' })
  async again(desk: Desk): Promise<true | undefined> {
    return this.run('again', desk);
  }

  private async run(job: string, desk: Desk): Promise<true> {
    const run = currentRun();
    const lease = currentLease();
    if (!run?.tick || !lease) throw new Error('a method with @CronLock ran without its lock or its tick');
    const { runId: id, tick, attempt } = run;
    const about = { job, tick: tick.getTime(), attempt, token: String(lease.fencingToken) };
    this.tools.record({ what: 'run', id, at: sharedNow(), ...about });
    await workUnder(desk, lease, { kind: 'run' });
    this.tools.record({ what: 'ran', id, at: sharedNow() });
    return true;
  }
}

/** The part of cron's `CronTime` that is used. Ticks are the multiples of this number of milliseconds. */
class EveryMs {
  readonly realDate = false;
  readonly timeZone = 'UTC';

  constructor(readonly source: number) {}

  getNextDateFrom(start: Date): { toMillis(): number } {
    const next = (Math.floor(start.getTime() / this.source) + 1) * this.source;
    return { toMillis: () => next };
  }
}

/** Like the `SchedulerRegistry` of `@nestjs/schedule`; it fires nothing. */
@Injectable()
export class Registry {
  private readonly jobs: ReadonlyMap<string, { readonly cronTime: EveryMs }>;

  constructor(@Inject(TRAFFIC_TOOLS) { orders }: TrafficTools) {
    this.jobs = new Map(JOBS.map((job) => [job, { cronTime: new EveryMs(orders.tickMs) }]));
  }

  getCronJobs() {
    return this.jobs;
  }

  getIntervals() {
    return [];
  }

  getTimeouts() {
    return [];
  }

  addCronJob() {}
}
