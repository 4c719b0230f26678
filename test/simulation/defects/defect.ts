import type { Focus } from '../plan/focus.js';
import type { Edit } from '../../support/edit.js';

/** What the programs of a simulation do. */
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

/** What goes wrong around them; `none` where the defect shows without any fault. */
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

/** What a run must have for the defect to show. */
export interface Needs {
  /** All of these. */
  readonly traffic: readonly Traffic[];
  /** All of these. */
  readonly faults: readonly Fault[];
  /** What the traffic or the servers must have besides. */
  readonly besides?: string;
  /** The same, as plans are drawn by it. */
  readonly plan?: Focus;
}

/** A test of the repository that fails while the library has the defect. */
export interface FailingTest {
  readonly spec: string;
  /** As the spec file has it. */
  readonly test: string;
}

/** A fault that is put into the compiled library, and that a simulation has to find. */
export interface Defect {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly needs: Needs;
  /** One of these checks finds it. */
  readonly finds: readonly Check[];
  /** What an application would meet. */
  readonly why: string;
  /** `undefined` where no other test notices the defect. */
  readonly failsIn: FailingTest | undefined;
}

/** A fault that no simulation of this kind can show. */
export interface OutOfReach {
  readonly fault: string;
  readonly reason: string;
}

/** Fast enough to find another server before a session ends. */
export const FAST_LINKS = { meanUs: 2_000, slowShare: 0, slowUs: 0 };
