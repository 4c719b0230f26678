import type { AskKind } from '../../robustness/traffic/orders.js';
import type { CrowdKind, ProgramName } from '../traffic/orders.js';
import type { FaultKind, WorldPlan } from './plan.js';

/** What a plan is to have: everything that is not said is drawn. */
export interface Focus {
  /** These, and no others. */
  readonly programs?: readonly ProgramName[] | undefined;
  /** Only these; none at all, if it is empty. */
  readonly faults?: readonly FaultKind[] | undefined;
  /** What the program `locks` asks for at least, and more often than for the rest. */
  readonly kinds?: readonly AskKind[] | undefined;
  readonly localLine?: boolean | undefined;
  readonly busyKeys?: readonly string[] | undefined;
  /** How many clients of each program a process has at least. */
  readonly clients?: number | undefined;
  /** How much of the traffic is for keys that are kept for long. */
  readonly keptShare?: number | undefined;
  readonly crowdKinds?: readonly CrowdKind[] | undefined;
  readonly crowdSizes?: readonly number[] | undefined;
  /** Two: every second application is another service's. */
  readonly services?: 1 | 2 | undefined;
  readonly apps?: number | undefined;
  /** What of the world is not drawn. */
  readonly world?:
    Partial<Pick<WorldPlan, 'containerCheckIntervalMs' | 'sessionTimeoutMs' | 'tickTimeMs' | 'link'>> | undefined;
  /** Whether each fault is met by another one. */
  readonly isInCompany?: boolean | undefined;
  /** Which requests are lost, where requests are. */
  readonly ops?: readonly string[] | undefined;
  /** Whether servers grant session timeouts of their own. */
  readonly hasUnlikeServers?: boolean | undefined;
  /** Whether clients rest for a moment only between two actions; such runs are short. */
  readonly isBusy?: boolean | undefined;
}
