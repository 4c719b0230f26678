import 'reflect-metadata';

/** Fires at the instants of a cron expression, or once at a date. What the fields mean is cron's own business. */
export interface CronSchedule {
  readonly kind: 'cron';
  /** What the job is called in the `SchedulerRegistry`, where it was given a name. */
  readonly registeredAs: string | undefined;
  readonly cronTime: unknown;
  readonly timeZone: unknown;
  readonly utcOffset: unknown;
}

/** Fires again and again, or once, so many milliseconds after the process has started: it has no ticks. */
export interface TimerSchedule {
  readonly kind: 'interval' | 'timeout';
  readonly ms: number;
}

export type Schedule = CronSchedule | TimerSchedule;

/** When a method is called by `@nestjs/schedule`, as its decorators have written it down. */
export interface ScheduleOf {
  /** The name given in `@Cron`, `@Interval` or `@Timeout`. */
  readonly name: string | undefined;
  readonly schedule: Schedule | undefined;
}

// Those of @nestjs/schedule, which does not export them.
const TYPE = 'SCHEDULER_TYPE';
const NAME = 'SCHEDULER_NAME';
const CRON = 'SCHEDULE_CRON_OPTIONS';
const TIMEOUT = 'SCHEDULE_TIMEOUT_OPTIONS';
const INTERVAL = 'SCHEDULE_INTERVAL_OPTIONS';

const READERS = new Map<unknown, (method: object) => Schedule>([
  [1, cronOf],
  [2, (method) => timerOf('timeout', Reflect.getMetadata(TIMEOUT, method))],
  [3, (method) => timerOf('interval', Reflect.getMetadata(INTERVAL, method))],
]);

/** What the decorators of `@nestjs/schedule` say about a method: read when it is needed, for they may stand above us. */
export function scheduleOf(method: object): ScheduleOf {
  const read = READERS.get(Reflect.getMetadata(TYPE, method));
  const name: unknown = Reflect.getMetadata(NAME, method);
  return { name: typeof name === 'string' && name !== '' ? name : undefined, schedule: read?.(method) };
}

function cronOf(method: object): CronSchedule {
  const { name, cronTime, timeZone, utcOffset } = Reflect.getMetadata(CRON, method);
  return { kind: 'cron', registeredAs: name, cronTime, timeZone, utcOffset };
}

function timerOf(kind: TimerSchedule['kind'], { timeout }: { readonly timeout: number }): TimerSchedule {
  return { kind, ms: timeout };
}
