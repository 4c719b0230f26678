/**
 * The data by which a run is judged: everything that the workers believed, requested and wrote, and every fault. Plain
 * data. Times are milliseconds on the clock that all processes share.
 */
export type Mode = 'exclusive' | 'write' | 'read';

/** Details of a hold that is not the lease of a lock, and of the call that led to it. */
export interface AboutHold {
  /** The kind of hold. `undefined`: the lease of a lock. */
  readonly kind?: HoldKind | undefined;
  /** Whether the lease was downgraded from a writer's, with the same token. */
  readonly isDowngraded?: boolean | undefined;
  /** The number of permits of a semaphore. */
  readonly permits?: number | undefined;
  /** Whether its holder never polls, and only listens to the signal. */
  readonly isListening?: boolean | undefined;
  /** The call that resulted in the hold. */
  readonly call?: string | undefined;
}

export type HoldKind = 'permits' | 'term' | 'run' | 'item' | 'member';

/** One lease of one process, for as long as the process itself observed it as held. */
export interface Hold extends AboutHold {
  readonly id: string;
  readonly process: string;
  readonly key: string;
  readonly mode: Mode;
  readonly token: bigint;
  /** The time from which its holder could rely on it. */
  readonly from: number;
  /**
   * The time of the holder's last check that found the lease held. A stopped or stalled process checks nothing, so its
   * belief does not reach beyond its last check before the stop. A check after the stop that still finds the lease held
   * proves the belief for all the time in between.
   */
  readonly seenUntil: number;
  readonly end: 'released' | 'lost' | 'open';
  /** The time at which the holder released the lease or learned of its loss. `undefined` while it is open. */
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
  /** `undefined` if there was no answer. */
  readonly answeredAt?: number | undefined;
  readonly outcome?: Outcome | undefined;
  readonly error?: string | undefined;
}

/** The possible outcomes of an acquisition. `failed` is everything that no promise covers. */
export type Outcome =
  'granted' | 'not this time' | 'timeout' | 'aborted' | 'unavailable' | 'lost' | 'revoked' | 'failed';

/** One write to the fenced register, as the register recorded it, in the order of arrival. */
export interface RegisterWrite {
  readonly hold: string;
  readonly key: string;
  readonly mode: Mode;
  readonly token: bigint;
  readonly accepted: boolean;
}

/** The answer to a write, as the writer recorded it. */
export interface WriteAnswer {
  readonly hold: string;
  readonly answeredAt: number;
  readonly accepted: boolean;
}

/** A fault and the time in which it was active. */
export interface Fault {
  readonly name: string;
  /** The target of the fault: a worker, a server, or `all`. */
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

/** One acquisition of the final round, which all workers run after the last fault. */
export interface FinalAcquisition {
  readonly process: string;
  readonly key: string;
  readonly mode: Mode;
  readonly tookMs: number;
  /** The error, if it failed. */
  readonly error?: string | undefined;
}

/** The znodes, watches or sessions that the servers still had without a holder or waiter. */
export interface Leftover {
  readonly when: 'idle' | 'closed';
  readonly what: string;
}

/** The maximum number of watches that fired for one deleted znode. Only present where it was measured. */
export interface WakeUps {
  readonly deletions: number;
  readonly mostWatchesOfOne: number;
}

export interface History {
  readonly scenario: string;
  /** The backend, if it is not ZooKeeper. */
  readonly backend?: string | undefined;
  readonly seed: number;
  readonly holds: readonly Hold[];
  readonly attempts: readonly Attempt[];
  readonly writes: readonly RegisterWrite[];
  readonly answers: readonly WriteAnswer[];
  readonly faults: readonly Fault[];
  readonly finals: readonly FinalAcquisition[];
  /** The expected number of acquisitions of the final round. */
  readonly finalsDue: number;
  readonly ends: readonly ProcessEnd[];
  readonly leftovers: readonly Leftover[];
  readonly warnings: readonly string[];
  readonly wakeUps?: WakeUps | undefined;
}

/** Whether two modes exclude each other. */
export function excludes(one: Mode, other: Mode): boolean {
  return one !== 'read' || other !== 'read';
}
