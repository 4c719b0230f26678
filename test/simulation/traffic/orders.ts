import type { Pace } from '../../robustness/traffic/beliefs.js';
import type { LockTraffic, Span } from '../../robustness/traffic/orders.js';

/** The programs that a process can run; each is a file in `programs/`. */
export type ProgramName =
  | 'locks'
  | 'downgrade'
  | 'warm'
  | 'segments'
  | 'permits'
  | 'campaign'
  | 'leader'
  | 'cron'
  | 'stock'
  | 'queue'
  | 'barrier'
  | 'doubleBarrier'
  | 'values'
  | 'looks'
  | 'crowd'
  | 'sets';

/** The actions of callers of one process that ask in one turn. */
export type CrowdKind = 'readers' | 'waiters' | 'readers and writers' | 'tries' | 'a waiter and tries';

/** The options of a process's lock module. */
export interface ModuleOrders {
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly localLine: boolean;
  readonly keepMs: number;
}

/** The orders of one process. Plain data, drawn from the seed by the process that starts it. */
export interface TrafficOrders {
  readonly seed: number;
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly releaseTimeoutMs: number;
  readonly module: ModuleOrders;
  /** The number of services. Applications belong to them in turn. */
  readonly services: number;
  /** The number of clients of each program that run concurrently in this process. */
  readonly programs: Readonly<Partial<Record<ProgramName, number>>>;
  /** The intervals at which the process looks at what it holds, and records it. */
  readonly pace: Pace;
  /** The keys and the kinds of the program `locks`. Other programs use some of its keys. */
  readonly locks: LockTraffic;
  /** The pause of a client of the other programs between two actions. */
  readonly pauseMs: Span;
  /** The duration of the other programs' work under what they hold. */
  readonly workMs: Span;
  /** The times that the other programs are ready to wait; one of them is drawn for each call. */
  readonly waitsMs: readonly number[];
  /** The time for which one shared value is used before the next one. Short histories can be judged. */
  readonly epochMs: number;
  /** The interval between two ticks of the jobs, in whole seconds. */
  readonly tickMs: number;
  /** The number of members of a double barrier; not more than there are such clients in all processes. */
  readonly barrierCount: number;
  /** The kinds of crowds; one of them is drawn each time. */
  readonly crowdKinds: readonly CrowdKind[];
  /** The numbers of callers of a process in one turn; one of them is drawn each time. */
  readonly crowdSizes: readonly number[];
  /** The time limit of each acquisition of the final round. */
  readonly finalLimitMs: number;
}
