import type { FaultLength, Lane } from '../failpoints/schedule.js';
import type { LockUnderTest, TrafficShape } from '../traffic/orders.js';
import type { Substance } from '../validate/substance.js';

/** A run by name: which servers, which traffic, which faults. */
export interface Scenario {
  readonly name: string;
  readonly servers: 'standalone' | 'ensemble';
  /** One worker process each. All are about the same keys. */
  readonly traffic: readonly TrafficShape[];
  /** Faults of different lanes happen at the same time. */
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly faultLengths: readonly FaultLength[];
  readonly sessionTimeoutMs: number;
  /** How long traffic and faults last, unless something else is asked for. */
  readonly seconds: number;
  /** What must at least have happened. */
  readonly least: Substance;
  readonly lock: LockUnderTest;
  readonly finalLimitMs: number;
  /** Whether nobody gives up waiting, so that the watches which a release fires can be counted. */
  readonly countsWakeUps: boolean;
}
