import type { Focus } from '../plan/focus.js';
import type { Edit } from '../../support/edit.js';

/** The kinds of traffic in a simulation. */
export type Traffic =
  | 'locks'
  | 'read-write'
  | 'downgrade'
  | 'none'
  | 'multi'
  | 'semaphore'
  | 'election'
  | 'cron'
  | 'stock'
  | 'queue'
  | 'barrier'
  | 'value'
  | 'revoke'
  | 'try';

/** The kinds of faults that a defect needs. `none` if the defect shows without a fault. */
export type Fault =
  | 'reset'
  | 'hold'
  | 'one-way'
  | 'stop'
  | 'stall'
  | 'suspend'
  | 'crash'
  | 'expiry'
  | 'close-from-outside'
  | 'delete-node'
  | 'leader-change'
  | 'lost-quorum'
  | 'cut-off'
  | 'freeze'
  | 'lag'
  | 'slow'
  | 'lost-reply'
  | 'lost-request'
  | 'reap'
  | 'clock-rate'
  | 'wall-jump'
  | 'data-gone'
  | 'none';

export type Check =
  | 'exclusion'
  | 'fencing tokens'
  | 'register'
  | 'liveness'
  | 'refusals'
  | 'leftovers'
  | 'outcomes'
  | 'wake-ups'
  | 'claim'
  | 'permits'
  | 'terms'
  | 'runs'
  | 'stock'
  | 'queue'
  | 'barriers'
  | 'values'
  | 'fifo'
  | 'turns'
  | 'requests'
  | 'processes';

/** The conditions under which the defect shows in a run. */
export interface Needs {
  /** All of these are needed. */
  readonly traffic: readonly Traffic[];
  /** All of these are needed. */
  readonly faults: readonly Fault[];
  /** Further conditions on the traffic or the servers. */
  readonly besides?: string;
  /** The same conditions, as the focus by which plans are drawn. */
  readonly plan?: Focus;
}

/** A test of the repository that fails while the library has the defect. */
export interface FailingTest {
  readonly spec: string;
  /** The title as it is in the spec file. */
  readonly test: string;
}

/** A fault that is planted in the compiled library, and that a simulation must find. */
export interface Defect {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly needs: Needs;
  /** One of these checks finds the defect. */
  readonly finds: readonly Check[];
  /** The consequence for an application. */
  readonly why: string;
  /** `undefined` if no other test notices the defect. */
  readonly failsIn: FailingTest | undefined;
}

/** A fault that no simulation of this kind can show. */
export interface OutOfReach {
  readonly fault: string;
  readonly reason: string;
}

/** Links that are fast enough to find another server before a session ends. */
export const FAST_LINKS = { meanUs: 2_000, slowShare: 0, slowUs: 0 };
