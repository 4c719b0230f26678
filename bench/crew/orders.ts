import type { ContenderOptions } from '../contenders/node/contender.js';

/**
 * An order to a worker, as one line of JSON. The worker answers each with one line. Times are in nanoseconds, on the
 * shared clock.
 */
export type Order = OpenOrder | LoopOrder | QueueOrder | MemoryOrder | DrainOrder | OnceOrder | CloseOrder;

export interface OpenOrder {
  readonly do: 'open';
  readonly contender: string;
  readonly address: string;
  readonly options: ContenderOptions;
}

/** Callers that acquire and release, one after the other, until `endAt`. The time before `beginAt` is warm-up. */
export interface LoopOrder {
  readonly do: 'loop';
  /** One key for all callers, or one per caller. */
  readonly keys: readonly string[];
  /** The numbers of the keys in the file, in the order of `keys`. */
  readonly locks: readonly number[];
  readonly callers: number;
  /** Whether each acquisition is of a new key. The given ones are the beginnings of their names. */
  readonly areKeysNew: boolean;
  readonly pauseMs: number;
  readonly insideMs: number;
  /** The first holds of each caller, which last for a while so that a wrongly granted caller would overlap them. */
  readonly lingers: Lingers;
  /** The share of the acquisitions that only read. */
  readonly readShare: number;
  readonly beginAt: number;
  readonly endAt: number;
  /** The file to which the acquisitions are written. */
  readonly file: string;
}

export interface Lingers {
  readonly times: number;
  readonly ms: number;
}

export interface LoopReport {
  /** The processor time of the process, in microseconds, at about `beginAt` and `endAt`. */
  readonly marks: readonly [CpuMark, CpuMark];
}

export interface CpuMark {
  readonly at: number;
  readonly cpuUs: number;
}

/** Acquires the key, and then requests it so many times more without waiting. Answered when all have been requested. */
export interface QueueOrder {
  readonly do: 'queue';
  readonly key: string;
  readonly callers: number;
  /** Applies to the first of these callers. */
  readonly lingers: Lingers;
}

export interface QueueReport {
  readonly before: Memory;
  readonly beganAt: number;
}

/** Asks for the memory use of the process after a garbage collection. */
export interface MemoryOrder {
  readonly do: 'memory';
}

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Releases the key, as does every caller that gets it. Answered when no caller is left. */
export interface DrainOrder {
  readonly do: 'drain';
  readonly file: string;
}

/** Acquires a key and releases it. */
export interface OnceOrder {
  readonly do: 'once';
  readonly key: string;
}

export interface OnceReport {
  readonly asked: number;
  readonly from: number;
  readonly to: number;
  readonly released: number;
}

export interface CloseOrder {
  readonly do: 'close';
}

/** The answer to each kind of order. */
export interface Reports {
  readonly open: object;
  readonly loop: LoopReport;
  readonly queue: QueueReport;
  readonly memory: Memory;
  readonly drain: object;
  readonly once: OnceReport;
  readonly close: object;
}
