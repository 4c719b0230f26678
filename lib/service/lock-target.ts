import type { GrantedLease } from '../contract/granted-lease.js';
import type { LeaseMode } from '../contract/lease.js';
import type { Line, LockRequest } from '../contract/lock-request.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import type { HeldTarget } from './held.js';
import type { Holding } from './tenure.js';

/** Which key a lock is on, how it is held and waited for, and how long its callers wait unless they say. */
export interface LockTarget extends Holding, HeldTarget {
  /** The key that the backend is asked for. Default: `key`. */
  readonly at?: string;
  readonly mode: LeaseMode;
  readonly line: Line;
  readonly waitMs: number;
  /** Whether callers of this process hand the key on among themselves. */
  readonly localLine: boolean;
  readonly keepMs: number;
  /** Whether a call may enter what it already holds, unless it says. Default `true`. */
  readonly reentrant?: boolean;
  /** Of several keys that are asked for in one step: each of them. */
  readonly members?: readonly LockTarget[];
  /** What `using` does when the lease was lost, unless the call says. Default `'throw'`. */
  readonly onLost?: ResolvedAcquireOptions['onLost'];
  /** How the backend is asked, where it is not for a lock. Goes without a local line. */
  readonly ask?: (request: LockRequest) => Promise<GrantedLease | null>;
}

/** Several keys that are asked for in one step, as one. */
export function setOf(targets: readonly [LockTarget, ...LockTarget[]]): LockTarget {
  return { ...targets[0], key: targets.map(({ key }) => key).join(', '), members: targets };
}
