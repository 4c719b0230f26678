import type { FaultLength, Lane } from '../failpoints/schedule.js';
import type { BackendName } from '../servers/servers.js';
import type { LockUnderTest, TrafficShape } from '../traffic/orders.js';
import type { Substance } from '../validate/substance.js';

/** A named run: its servers, its traffic and its faults. */
export interface Scenario {
  readonly name: string;
  readonly backend: BackendName;
  readonly servers: 'standalone' | 'ensemble';
  /** One worker process for each element. All use the same keys. */
  readonly traffic: readonly TrafficShape[];
  /** Faults of different lanes happen at the same time. */
  readonly lanes: Readonly<Record<string, Lane>>;
  readonly faultLengths: readonly FaultLength[];
  readonly sessionTimeoutMs: number;
  /** The duration of traffic and faults by default. */
  readonly seconds: number;
  /** The minimum that must have happened. */
  readonly least: Substance;
  readonly lock: LockUnderTest;
  readonly finalLimitMs: number;
  /** Whether no waiter gives up, so that the watches that a release fires can be counted. */
  readonly countsWakeUps: boolean;
}
