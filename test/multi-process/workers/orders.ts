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

/** The orders are the one argument, as JSON. */
export function ordersOf<T>(): T {
  return JSON.parse(process.argv[2] ?? '') as T;
}
