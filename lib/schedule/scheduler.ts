import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LockConfigurationError } from '../contract/errors.js';
import { followingBy } from './schedule.js';
import type { CronTime, CronTimeClass, Following, CronSchedule } from './schedule.js';

/** Computes when the jobs of an application fire. */
export interface TickSource {
  /** @throws LockConfigurationError where nothing fires jobs */
  followingOf(schedule: CronSchedule): Following;
}

/** The part of the `SchedulerRegistry` of `@nestjs/schedule` that is used here and by which it is recognised. */
interface Registry {
  getCronJobs(): ReadonlyMap<string, { readonly cronTime: CronTime }>;
}

const REGISTRY_METHODS = ['getCronJobs', 'getIntervals', 'getTimeouts', 'addCronJob'];

/**
 * The application's own scheduler, found among its providers. Its jobs carry the `CronTime` by which they fire. So the
 * code that fires the jobs also defines their ticks, whatever its version, and `cron` need not be installed separately.
 */
@Injectable()
export class Scheduler implements TickSource {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
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

  /** The `CronTime` of the running job: it follows `job.setTime(…)`. A job without a name cannot be identified. */
  private registered({ registeredAs }: CronSchedule): CronTime | undefined {
    return registeredAs === undefined ? undefined : this.jobs().get(registeredAs)?.cronTime;
  }

  private madeFor(schedule: CronSchedule): CronTime {
    const known = this.made.get(schedule);
    if (known) return known;
    // As cron's jobs make theirs: never both a zone and an offset.
    const { cronTime, timeZone, utcOffset = null } = schedule;
    const CronTimeOfApp = this.classOfJobs();
    const hasZone = timeZone !== undefined && timeZone !== null;
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

  /**
   * Returns the jobs registered now: they may be added and deleted. Their class is kept for a job that runs without
   * being registered.
   */
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
