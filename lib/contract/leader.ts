import type { ContenderOwner } from './contender.js';

/** Who leads, as the servers had it a moment ago. The leader itself may not know it yet, or not know any more that it does. */
export interface Leader {
  /** The participant's id, as clients of other kinds see it too: its label, or `host:pid`. */
  readonly id: string;
  /** Who it is, as far as is known; of clients of other kinds nothing is. */
  readonly owner: ContenderOwner;
  /** What it proclaims; `undefined` when it proclaims nothing. */
  readonly value: string | undefined;
  /** Since when it leads, by its own clock; of clients of other kinds, since when it stands in line. */
  readonly since: Date;
  /** That of its term. */
  readonly fencingToken: bigint;
  /** Whether it belongs to this application's connection. */
  readonly isOwn: boolean;
}
