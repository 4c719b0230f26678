import type { LeaseMode } from '../../contract/lease.js';

/** One lease, for as long as its holder believed in it. Times are milliseconds on one clock. */
export interface RecordedHold {
  /** The key. */
  readonly key: string;
  /** The mode in which it was granted. */
  readonly mode: LeaseMode;
  /** The name of the client. */
  readonly client: string;
  /** The fencing token. */
  readonly token: bigint;
  /** The time from which its holder could rely on it. */
  readonly from: number;
  /** The last time at which the lease was seen to be held. */
  readonly seenUntil: number;
  /** Whether its session was ended from outside. The holder cannot know before it is told. */
  readonly isEndedOutside?: boolean;
}

/** One request, from the call to its end. */
export interface RecordedWait {
  /** The key. */
  readonly key: string;
  /** The mode that was requested. */
  readonly mode: LeaseMode;
  /** The name of the client. */
  readonly client: string;
  /** The time of the call. */
  readonly askedAt: number;
  /** The time at which it was first seen in the wait queue. `undefined`: never. */
  readonly queuedAt?: number | undefined;
  /** Whether its place in the wait queue is promised: no session ended meanwhile. */
  readonly isOrdered: boolean;
  /** The time of its end. `undefined`: it has not ended. */
  readonly endedAt?: number | undefined;
  /** The kind of end. */
  readonly outcome?: 'granted' | 'refused' | 'given up' | 'unavailable' | 'failed' | undefined;
  /** The error of a request that failed. */
  readonly error?: unknown;
}

/** One write to a store that is guarded by fencing tokens, in the order of arrival. */
export interface RecordedWrite {
  /** The key that guards it. */
  readonly key: string;
  /** The mode of the lease. */
  readonly mode: LeaseMode;
  /** The name of the client. */
  readonly client: string;
  /** The fencing token of the lease. */
  readonly token: bigint;
}

/** The data by which a run under faults is judged. */
export interface FaultHistory {
  /** The leases, in the order of their grants. */
  readonly holds: readonly RecordedHold[];
  /** The requests. */
  readonly waits: readonly RecordedWait[];
  /** The writes of holders that believed in their leases. */
  readonly writes: readonly RecordedWrite[];
  /** The entries that were still in a wait queue after all had released and all waits had ended. */
  readonly left: readonly string[];
}

/** Whether two modes exclude each other. */
export function excludes(one: LeaseMode, other: LeaseMode): boolean {
  return one !== other || (one !== 'read' && one !== 'permit');
}

/** Returns the records of each key, in their order. */
export function byKey<T extends { readonly key: string }>(records: readonly T[]): T[][] {
  const groups = new Map<string, T[]>();
  for (const record of records) {
    const group = groups.get(record.key);
    if (group) group.push(record);
    else groups.set(record.key, [record]);
  }
  return [...groups.values()];
}
