/**
 * What a run is judged by: everything that the workers believed, asked for and wrote, and everything that was done to
 * them. Plain data. Times are milliseconds on the clock that all processes share.
 */
export type Mode = 'exclusive' | 'write' | 'read';

/** What is held where it is not the lease of a lock, and what asked for it. */
export interface AboutHold {
  /** Nothing: the lease of a lock. */
  readonly kind?: HoldKind | undefined;
  /** Of a lease that was a writer's before, with the same token. */
  readonly isDowngraded?: boolean | undefined;
  /** How many permits of a semaphore. */
  readonly permits?: number | undefined;
  /** Whether its holder does not ask, and only listens to the signal. */
  readonly isListening?: boolean | undefined;
  /** The call that it is the outcome of. */
  readonly call?: string | undefined;
}

export type HoldKind = 'permits' | 'term' | 'run' | 'item' | 'member';

/** One lease of one process, for as long as the process itself saw that it stood. */
export interface Hold extends AboutHold {
  readonly id: string;
  readonly process: string;
  readonly key: string;
  readonly mode: Mode;
  readonly token: bigint;
  /** When its holder could begin to rely on it. */
  readonly from: number;
  /**
   * When the holder last looked and saw the lease stand. A process that does not run looks at nothing: belief that
   * merely ended late because its process was stopped or stalled does not reach beyond the last look before that; and
   * a look after waking up that still sees the lease stand proves the belief for all the time in between.
   */
  readonly seenUntil: number;
  readonly end: 'released' | 'lost' | 'open';
  /** When the holder released the lease, or heard of its loss; nothing, while it is open. */
  readonly endedAt?: number | undefined;
}

/** One acquisition, from the call to its outcome. */
export interface Attempt {
  readonly id: string;
  readonly process: string;
  readonly keys: readonly string[];
  readonly mode: Mode;
  readonly askedAt: number;
  readonly waitMs: number;
  /** Nothing, when it never came. */
  readonly answeredAt?: number | undefined;
  readonly outcome?: Outcome | undefined;
  readonly error?: string | undefined;
}

/** How an acquisition may end. `failed` is everything that no promise speaks of. */
export type Outcome =
  'granted' | 'not this time' | 'timeout' | 'aborted' | 'unavailable' | 'lost' | 'revoked' | 'failed';

/** One write to the fenced register, as the register saw it. In the order in which they arrived. */
export interface RegisterWrite {
  readonly hold: string;
  readonly key: string;
  readonly mode: Mode;
  readonly token: bigint;
  readonly accepted: boolean;
}

/** A write's answer, as the writer saw it. */
export interface WriteAnswer {
  readonly hold: string;
  readonly answeredAt: number;
  readonly accepted: boolean;
}

/** Something that was broken on purpose, from when to when. */
export interface Fault {
  readonly name: string;
  /** Whom it hit: a worker, a server, or `all`. */
  readonly target: string;
  readonly from: number;
  readonly until: number;
}

/** One worker process, from its start to its end. */
export interface ProcessEnd {
  readonly process: string;
  readonly end: 'exited' | 'killed by a fault' | 'had to be killed';
  readonly exitCode: number | null;
  readonly output: string;
}

/** One acquisition of the round that everybody runs after the last fault. */
export interface FinalAcquisition {
  readonly process: string;
  readonly key: string;
  readonly mode: Mode;
  readonly tookMs: number;
  /** Why it did not succeed, if so. */
  readonly error?: string | undefined;
}

/** What the servers still had although nobody held or waited for anything. */
export interface Leftover {
  readonly when: 'idle' | 'closed';
  readonly what: string;
}

/** How many watches fired for one deleted znode, at most; only where it was measured. */
export interface WakeUps {
  readonly deletions: number;
  readonly mostWatchesOfOne: number;
}

export interface History {
  readonly scenario: string;
  readonly seed: number;
  readonly holds: readonly Hold[];
  readonly attempts: readonly Attempt[];
  readonly writes: readonly RegisterWrite[];
  readonly answers: readonly WriteAnswer[];
  readonly faults: readonly Fault[];
  readonly finals: readonly FinalAcquisition[];
  /** How many acquisitions the final round should have had. */
  readonly finalsDue: number;
  readonly ends: readonly ProcessEnd[];
  readonly leftovers: readonly Leftover[];
  readonly warnings: readonly string[];
  readonly wakeUps?: WakeUps | undefined;
}

/** Whether two modes may not be held at the same time. */
export function excludes(one: Mode, other: Mode): boolean {
  return one !== 'read' || other !== 'read';
}
