import type { SegmentedLock } from '../composite/segmented-lock.js';
import { DryHints } from './dry-hints.js';
import { WholeRounds } from './whole-rounds.js';

// For so long a segment that had too little is not looked at first.
const HINTS_KEPT_MS = 1_000;

/** What the callers of one process who buy from one stock have in common. */
export class LeasedTraffic {
  readonly dry = new DryHints(HINTS_KEPT_MS);
  readonly rounds: WholeRounds;
  /** How many there were when somebody looked last. */
  segments: number | undefined;

  constructor(readonly lock: SegmentedLock) {
    this.rounds = new WholeRounds(lock);
  }

  get isIdle(): boolean {
    return this.rounds.isIdle;
  }
}
