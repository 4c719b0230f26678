/** What a worker is told by the one who started it, and what it says. */
export interface CountOrders {
  readonly connectString: string;
  readonly basePath: string;
  /** A file with a number in it. */
  readonly file: string;
  readonly increments: number;
  /** `false` plants a lock that everybody gets at once. */
  readonly isLocked: boolean;
}

export interface HoldOrders {
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
}

export interface CronOrders {
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  /** How far the process's wall clock is ahead. */
  readonly skewMs: number;
  readonly job: 'guarded' | 'tryOnly' | 'hanging';
  readonly workMs: number;
  /** A file that every run adds a line to. */
  readonly journal: string;
}

/** What an application with a job is told: to fire it here and now, or to shut down. */
export interface CronMessage {
  readonly say: 'fire' | 'close';
}

/** A line of the journal. */
export interface CronEntry {
  readonly what: 'begun' | 'done';
  /** In milliseconds since 1970. */
  readonly tick: number;
  readonly attempt: number;
  readonly pid: number;
}

export interface SellOrders {
  readonly connectString: string;
  readonly basePath: string;
  /** A directory with a file for each segment, `0`, `1` and so on: how many coupons it has. */
  readonly directory: string;
  /** The counts that this worker changes the segments to, one after another while it sells. */
  readonly changes: readonly number[];
  /** `false` plants a lock that everybody gets at once. */
  readonly isLocked: boolean;
}

/** The orders are the one argument, as JSON. */
export function ordersOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '') as T;
}
