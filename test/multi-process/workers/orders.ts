/** The orders that a worker gets from the process that started it, and its messages. */
export interface CountOrders {
  readonly connectString: string;
  readonly basePath: string;
  /** A file with a number in it. */
  readonly file: string;
  readonly increments: number;
  /** `false` plants a lock that grants every request at once. */
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
  /** The time by which the process's wall clock is ahead. */
  readonly skewMs: number;
  readonly job: 'guarded' | 'tryOnly' | 'hanging';
  readonly workMs: number;
  /** A file to which every run adds a line. */
  readonly journal: string;
}

/** A message to an application with a job: fire it here and now, or shut down. */
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
  /** A directory with a file for each segment, named `0`, `1` and so on, which holds its number of coupons. */
  readonly directory: string;
  /** The counts of segments to which this worker changes, one after another, while it sells. */
  readonly changes: readonly number[];
  /** `false` plants a lock that grants every request at once. */
  readonly isLocked: boolean;
}

/** Parses the orders, which are the only argument, as JSON. */
export function ordersOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '') as T;
}
