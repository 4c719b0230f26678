import type { Pace } from '../../robustness/traffic/beliefs.js';
import type { LockTraffic, Span } from '../../robustness/traffic/orders.js';

/** What a process can be told to do; each is a file in `programs/`. */
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

/** What callers of one process do that come in one turn. */
export type CrowdKind = 'readers' | 'waiters' | 'readers and writers' | 'tries' | 'a waiter and tries';

/** How the lock module of a process is set up. */
export interface ModuleOrders {
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly localLine: boolean;
  readonly keepMs: number;
}

/** What one process is to do. Plain data, drawn from the seed by whoever starts it. */
export interface TrafficOrders {
  readonly seed: number;
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly releaseTimeoutMs: number;
  readonly module: ModuleOrders;
  /** Of how many services the applications are: each is of one, in turn. */
  readonly services: number;
  /** How many clients of each program run side by side in this process. */
  readonly programs: Readonly<Partial<Record<ProgramName, number>>>;
  /** How often the process looks at what it holds, and writes that down. */
  readonly pace: Pace;
  /** The keys and the kinds of the program `locks`; others take some of its keys. */
  readonly locks: LockTraffic;
  /** How long a client of the other programs rests between two actions. */
  readonly pauseMs: Span;
  /** How long the other programs work under what they hold. */
  readonly workMs: Span;
  /** How long the other programs are ready to wait: one of these. */
  readonly waitsMs: readonly number[];
  /** How long one shared value is used before the next one is taken: short histories can be judged. */
  readonly epochMs: number;
  /** How long it is from one tick of the jobs to the next: whole seconds. */
  readonly tickMs: number;
  /** How many have to come to a double barrier; not more than there are such clients in all processes. */
  readonly barrierCount: number;
  /** What crowds do: one of these. */
  readonly crowdKinds: readonly CrowdKind[];
  /** How many callers of a process come in one turn: one of these. */
  readonly crowdSizes: readonly number[];
  /** How long each acquisition of the final round may take. */
  readonly finalLimitMs: number;
}
