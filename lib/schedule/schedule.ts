import 'reflect-metadata';

/**
 * A schedule that fires at the instants of a cron expression, or once at a date. The package `cron` interprets the
 * fields.
 */
export interface CronSchedule {
  readonly kind: 'cron';
  /** The job's name in the `SchedulerRegistry`, where it was given one. */
  readonly registeredAs: string | undefined;
  readonly cronTime: unknown;
  readonly timeZone: unknown;
  readonly utcOffset: unknown;
}

/**
 * A schedule that fires repeatedly, or once, after `ms` milliseconds from the start of the process. It has no ticks.
 */
interface TimerSchedule {
  readonly kind: 'interval' | 'timeout';
  readonly ms: number;
}

export type Schedule = CronSchedule | TimerSchedule;

/** The schedule by which `@nestjs/schedule` calls a method, as its decorators have recorded it. */
export interface ScheduleOf {
  /** The name given in `@Cron`, `@Interval` or `@Timeout`. */
  readonly name: string | undefined;
  readonly schedule: Schedule | undefined;
}

// The metadata keys of @nestjs/schedule, which does not export them.
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

/**
 * Returns the schedule that the decorators of `@nestjs/schedule` recorded. Read when needed: they may be above ours.
 */
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

const SECOND_MS = 1_000;
// In seconds, more than eight years: as far as cron looks ahead.
const FURTHEST = 2 ** 28;

/**
 * Returns the nominal tick of an instant: the latest instant, this one included, at which a job was to fire. Between
 * two ticks it is the earlier one, so clocks that differ, and timers that are late, agree. `undefined` before the first
 * one.
 *
 * cron can only look ahead, in whole seconds. Doubled steps back find a second from which the next tick is not after
 * `instant`. Halving then finds the latest such second.
 */
export function nominalTick(following: Following, instant: number): number | undefined {
  const isBefore = (seconds: number) => following(instant - seconds * SECOND_MS) <= instant;
  let far = 1;
  while (!isBefore(far)) {
    if (far >= FURTHEST) return undefined;
    far *= 2;
  }
  let near = Math.floor(far / 2);
  while (far - near > 1) {
    const middle = Math.floor((near + far) / 2);
    if (isBefore(middle)) far = middle;
    else near = middle;
  }
  return following(instant - far * SECOND_MS);
}

/**
 * The part of `CronTime` that is used here: the class of the package `cron` that computes when a job fires. The
 * application's own class is used, the one that its jobs run by. Nothing is imported.
 */
export interface CronTime {
  /** The expression; for a job that fires once, its date. */
  readonly source: unknown;
  readonly timeZone?: string | undefined;
  readonly utcOffset?: number | undefined;
  /** Whether it fires once, at a date. */
  readonly realDate: boolean;
  getNextDateFrom(start: Date, timeZone?: string): { toMillis(): number };
}

export type CronTimeClass = new (source: unknown, timeZone?: unknown, utcOffset?: unknown) => CronTime;

/**
 * Returns the first instant after this one at which a job fires; `Infinity` for never again. In milliseconds since
 * 1970.
 */
export type Following = (instant: number) => number;

/** Returns the function that computes when a job fires, as cron does, time zones and daylight saving included. */
export function followingBy(cronTime: CronTime): Following {
  if (cronTime.realDate) {
    const date = Number(cronTime.source);
    return (instant) => (date > instant ? date : Infinity);
  }
  const zone = cronTime.timeZone ?? zoneOf(cronTime.utcOffset ?? 0);
  return (instant) => cronTime.getNextDateFrom(new Date(instant), zone).toMillis();
}

/** A fixed offset in the form that cron passes to its calendar: `UTC+05:30`. */
function zoneOf(utcOffset: number): string {
  const minutes = Math.abs(utcOffset);
  const digits = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${utcOffset < 0 ? '-' : '+'}${digits.join(':')}`;
}
