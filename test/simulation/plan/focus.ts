import type { AskKind } from '../../robustness/traffic/orders.js';
import type { CrowdKind, ProgramName } from '../traffic/orders.js';
import type { FaultKind, WorldPlan } from './plan.js';

/** The fixed parts of a plan. Everything that is not given is drawn. */
export interface Focus {
  /** The only programs. */
  readonly programs?: readonly ProgramName[] | undefined;
  /** The only kinds of faults; if empty, there are no faults. */
  readonly faults?: readonly FaultKind[] | undefined;
  /** The kinds that the program `locks` uses at least, and more often than the others. */
  readonly kinds?: readonly AskKind[] | undefined;
  readonly localLine?: boolean | undefined;
  readonly busyKeys?: readonly string[] | undefined;
  /** The minimum number of clients of each program in a process. */
  readonly clients?: number | undefined;
  /** The share of the traffic for keys that are kept for long. */
  readonly keptShare?: number | undefined;
  readonly crowdKinds?: readonly CrowdKind[] | undefined;
  readonly crowdSizes?: readonly number[] | undefined;
  /** With 2, every second application belongs to another service. */
  readonly services?: 1 | 2 | undefined;
  readonly apps?: number | undefined;
  /** The parts of the world that are not drawn. */
  readonly world?:
    Partial<Pick<WorldPlan, 'containerCheckIntervalMs' | 'sessionTimeoutMs' | 'tickTimeMs' | 'link'>> | undefined;
  /** Whether each fault is accompanied by another one. */
  readonly isInCompany?: boolean | undefined;
  /** The requests to lose, for faults that lose requests or replies. */
  readonly ops?: readonly string[] | undefined;
  /** Whether servers grant different session timeouts. */
  readonly hasUnlikeServers?: boolean | undefined;
  /** Whether clients pause only for a moment between two actions. Such runs are short. */
  readonly isBusy?: boolean | undefined;
}
