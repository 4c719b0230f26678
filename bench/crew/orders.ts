import type { ContenderOptions } from '../contenders/node/contender.js';

/** What a worker is told, a line of JSON each; it answers each with one line. Times: nanoseconds, on the shared clock. */
export type Order = OpenOrder | LoopOrder | QueueOrder | MemoryOrder | DrainOrder | OnceOrder | CloseOrder;

export interface OpenOrder {
  readonly do: 'open';
  readonly contender: string;
  readonly address: string;
  readonly options: ContenderOptions;
}

/** Callers that take and give back, one after the other, until `endAt`. What is before `beginAt` is warm-up. */
export interface LoopOrder {
  readonly do: 'loop';
  /** One for all, or one for each caller. */
  readonly keys: readonly string[];
  /** What the keys are called in the file; as many as there are keys. */
  readonly locks: readonly number[];
  readonly callers: number;
  readonly insideMs: number;
  /** How many of its first tenures each caller spends so long in, to be met there by whoever should not come in. */
  readonly lingers: Lingers;
  /** Which share of the acquisitions only reads. */
  readonly readShare: number;
  readonly beginAt: number;
  readonly endAt: number;
  /** Where the acquisitions go. */
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

/** Takes the key, and then asks for it so many times more without waiting. Answered when all have asked. */
export interface QueueOrder {
  readonly do: 'queue';
  readonly key: string;
  readonly callers: number;
  /** Of these callers the first ones. */
  readonly lingers: Lingers;
}

export interface QueueReport {
  readonly before: Memory;
  readonly beganAt: number;
}

/** What the process uses after a collection of its garbage. */
export interface MemoryOrder {
  readonly do: 'memory';
}

export interface Memory {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Gives the key back, and so does everybody who gets it. Answered when nobody is left. */
export interface DrainOrder {
  readonly do: 'drain';
  readonly file: string;
}

/** Takes a key and gives it back. */
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
