import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LockConfigurationError } from '../contract/errors.js';
import { followingBy } from './schedule.js';
import type { CronTime, CronTimeClass, Following, CronSchedule } from './schedule.js';

/** Knows when the jobs of an application fire. */
export interface TickSource {
  /** @throws LockConfigurationError where nothing fires jobs */
  followingOf(schedule: CronSchedule): Following;
}

/** What is used of the `SchedulerRegistry` of `@nestjs/schedule`, and what it is recognised by. */
interface Registry {
  getCronJobs(): ReadonlyMap<string, { readonly cronTime: CronTime }>;
}

const REGISTRY_METHODS = ['getCronJobs', 'getIntervals', 'getTimeouts', 'addCronJob'];

/**
 * The application's own scheduler, found among its providers: its jobs carry the `CronTime` by which they fire. So what
 * a tick is, is said by the very code that fires, whatever its version, and nobody needs to install `cron`.
 */
@Injectable()
export class Scheduler implements TickSource {
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  private registry: Registry | undefined;
  private cronTimeClass: CronTimeClass | undefined;
  private readonly made = new WeakMap<CronSchedule, CronTime>();

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  /** Whether anything in the application calls methods on a schedule. */
  isThere(): boolean {
    return this.findRegistry() !== undefined;
  }

  followingOf(schedule: CronSchedule): Following {
    return followingBy(this.registered(schedule) ?? this.madeFor(schedule));
  }

  /** The running job's own: it follows `job.setTime(…)`. A job without a name can not be told from others. */
  private registered({ registeredAs }: CronSchedule): CronTime | undefined {
    return registeredAs === undefined ? undefined : this.jobs().get(registeredAs)?.cronTime;
  }

  private madeFor(schedule: CronSchedule): CronTime {
    const known = this.made.get(schedule);
    if (known) return known;
    // As cron's jobs make theirs: never both a zone and an offset.
    const { cronTime, timeZone, utcOffset = null } = schedule;
    const CronTimeOfApp = this.classOfJobs();
    const hasZone = typeof timeZone === 'string' && timeZone !== '';
    const made = hasZone ? new CronTimeOfApp(cronTime, timeZone) : new CronTimeOfApp(cronTime, null, utcOffset);
    this.made.set(schedule, made);
    return made;
  }

  private classOfJobs(): CronTimeClass {
    this.jobs();
    if (this.cronTimeClass) return this.cronTimeClass;
    throw new LockConfigurationError(
      'what the tick of a @Cron job is, only a running scheduler knows: import ScheduleModule.forRoot(), with cronJobs on',
    );
  }

  /** What is registered now: jobs may be added and deleted. Their class is kept, for a job that is running all the same. */
  private jobs(): ReturnType<Registry['getCronJobs']> {
    const jobs: ReturnType<Registry['getCronJobs']> = this.findRegistry()?.getCronJobs() ?? new Map();
    const [job] = jobs.values();
    if (job) this.cronTimeClass = job.cronTime.constructor as CronTimeClass;
    return jobs;
  }

  private findRegistry(): Registry | undefined {
    const instances = () => this.discovery.getProviders().map((wrapper): unknown => wrapper.instance);
    return (this.registry ??= instances().find(isRegistry));
  }
}

function isRegistry(instance: unknown): instance is Registry {
  if (typeof instance !== 'object' || instance === null) return false;
  return REGISTRY_METHODS.every((method) => typeof Reflect.get(instance, method) === 'function');
}
