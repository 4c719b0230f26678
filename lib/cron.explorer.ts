import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { LockConfigurationError } from './contract/errors.js';
import { jobsFor } from './decorators/cron-lock.decorator.js';
import type { DeclaredJob } from './decorators/declared-job.js';
import { lockedMethodsOf } from './decorators/locked-method.js';
import type { LockedMethod } from './decorators/locked-method.js';
import { orCloseConnections, fixedInstances } from './discovered.js';
import { guardedJobsOf } from './schedule/guarded-jobs.js';
import type { ScheduledJob } from './schedule/scheduled-job.js';
import { Scheduler } from './schedule/scheduler.js';

const logger = new Logger('CronLock');

/** A job, and an instance that it is run on. */
interface Placed {
  readonly instance: object;
  readonly method: LockedMethod;
  readonly declared: DeclaredJob;
  readonly job: ScheduledJob;
}

/**
 * Finds the application's jobs. Before anything starts, it checks that no two of them are the same job to the cluster.
 * Once everything has started, it looks for runs that other instances did not finish.
 */
@Injectable()
export class CronExplorer implements OnModuleInit, OnApplicationBootstrap {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private placed: readonly Placed[] = [];

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Scheduler) private readonly scheduler: Scheduler,
  ) {}

  /**
   * @throws LockConfigurationError for a job that is never due, a bad key, a job without a service, a name that is not
   *   permanent, and two jobs with one key, naming both
   */
  onModuleInit(): Promise<void> {
    return orCloseConnections(this.discovery, () => {
      this.placed = fixedInstances(this.discovery).flatMap(jobsOn);
      checkKeys(this.placed);
    });
  }

  /** Only a warning: an application may leave its jobs to other instances of the service. */
  private warnOfUncalled(): void {
    const scheduled = this.placed.filter(({ job }) => job.schedule !== undefined);
    if (scheduled.length === 0 || this.scheduler.isThere()) return;
    const places = [...new Set(scheduled.map(({ method }) => method.place))].join(', ');
    logger.warn(
      `nothing calls ${places} on schedule: import ScheduleModule.forRoot() of @nestjs/schedule in the root module`,
    );
  }

  /** Does not wait: a run that must be finished may take its time, and so may a connection. */
  onApplicationBootstrap(): void {
    this.warnOfUncalled();
    for (const { instance, method, declared, job } of this.placed) {
      void jobsFor(method, instance).resume(job, () => declared.call(instance, []));
    }
  }
}

function jobsOn(instance: object): readonly Placed[] {
  return lockedMethodsOf(instance).flatMap((method) => {
    const { job: declared } = method;
    if (!declared || declared.isOverriddenIn(instance)) return [];
    const job = declared.jobOf(instance);
    const [locks] = method.slot.servicesOf(instance);
    if (locks) guardedJobsOf(locks)?.check(job);
    return { instance, method, declared, job };
  });
}

function checkKeys(placed: readonly Placed[]): void {
  const known = new Map<string, Placed>();
  for (const one of placed) {
    const identity = JSON.stringify([one.method.slot.connection, one.job.key]);
    const other = known.get(identity) ?? one;
    // The same method of the same class, on two instances, is one job: the cluster runs it on either.
    if (other.job !== one.job) throw sameKey(other, one);
    known.set(identity, one);
  }
}

function sameKey(one: Placed, other: Placed): LockConfigurationError {
  const { key } = one.job;
  return new LockConfigurationError(
    `${one.job.title} and ${other.job.title} have the same key "${key}" (connection "${one.method.slot.connection}"), so ` +
      'only one of them would run each time: give one of them a name in its schedule, or another key',
    { key },
  );
}
