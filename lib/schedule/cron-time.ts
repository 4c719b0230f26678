/**
 * What is used of `CronTime`, the class of the package `cron` that knows when a job fires. The application's own is
 * taken, the one that its jobs run by; nothing is imported.
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

/** The first instant after this one at which a job fires; both in milliseconds since 1970. `Infinity`: never again. */
export type Following = (instant: number) => number;

/** When a job fires, as cron says, time zones and daylight saving included. */
export function followingBy(cronTime: CronTime): Following {
  if (cronTime.realDate) {
    const date = Number(cronTime.source);
    return (instant) => (date > instant ? date : Infinity);
  }
  const zone = cronTime.timeZone ?? zoneOf(cronTime.utcOffset ?? 0);
  return (instant) => cronTime.getNextDateFrom(new Date(instant), zone).toMillis();
}

/** A fixed offset as cron hands it to its calendar: `UTC+05:30`. */
function zoneOf(utcOffset: number): string {
  const minutes = Math.abs(utcOffset);
  const digits = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `UTC${utcOffset < 0 ? '-' : '+'}${digits.join(':')}`;
}
