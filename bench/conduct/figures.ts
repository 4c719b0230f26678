import type { CpuMark } from '../crew/orders.js';
import type { Packets } from '../servers/server.js';
import { quantile } from '../support/statistics.js';
import type { Acquisition } from '../support/tenure-file.js';
import { handOvers } from '../support/tenures.js';

/** The measured figures. Not every shape has all of them. */
export interface Figures {
  /** Acquisitions per second. */
  readonly rate?: number;
  /** The time to request, acquire and release, in microseconds. */
  readonly p50Us?: number;
  readonly p99Us?: number;
  /** The time to request and acquire, in microseconds. */
  readonly acquireP50Us?: number;
  /** The hand-over: from the end of one hold to the begin of the next, in microseconds. */
  readonly handOverP50Us?: number;
  readonly handOverP99Us?: number;
  /**
   * The time from the acquisition to the begin of the release, in microseconds. Only where callers hold the lock for a
   * while.
   */
  readonly insideP50Us?: number;
  /** The acquisitions of the process with the fewest, divided by those of the process with the most. */
  readonly fairness?: number;
  /** The clients' processor time per acquisition, in microseconds. */
  readonly cpuUs?: number;
  /** Messages to and from the server per acquisition. */
  readonly packetsTo?: number;
  readonly packetsFrom?: number;
  /** The time until so many callers were queued, in milliseconds. */
  readonly enqueueMs?: number;
  /** The memory growth of the waiting callers' process, per waiter. */
  readonly heapBytes?: number;
  readonly residentBytes?: number;
}

export interface Sample {
  readonly at: number;
  readonly packets: Packets | undefined;
}

/** A window of one contender, as it was observed. Times are in nanoseconds. */
export interface Observed {
  readonly beginAt: number;
  readonly endAt: number;
  /** Whether all callers want the same key exclusively. */
  readonly isOneLine: boolean;
  /** Whether callers hold the lock for a while. */
  readonly isStaying: boolean;
  /** The work of each process. */
  readonly workers: readonly Worked[];
  readonly samples: readonly [Sample, Sample];
  /** Messages of idle sessions per nanosecond. */
  readonly idle: Packets;
}

export interface Worked {
  readonly acquisitions: readonly Acquisition[];
  readonly marks: readonly [CpuMark, CpuMark];
}

export function figuresOf(observed: Observed): Figures {
  const { beginAt, endAt, workers, isOneLine, isStaying } = observed;
  const each = workers.map(({ acquisitions }) => within(acquisitions, beginAt, endAt));
  const all = each.flat();
  const counts = each.map(({ length }) => length);
  const cycles = all.map(({ asked, from, to, released }) => (from - asked + released - to) / 1e3);
  const stays = isStaying ? all.map(({ from, to }) => (to - from) / 1e3) : [];
  const gaps = isOneLine ? handOvers(all).map((ns) => ns / 1e3) : [];
  return {
    rate: all.length / ((endAt - beginAt) / 1e9),
    p50Us: quantile(cycles, 0.5),
    p99Us: quantile(cycles, 0.99),
    acquireP50Us: quantile(
      all.map(({ asked, from }) => (from - asked) / 1e3),
      0.5,
    ),
    ...(isOneLine ? { handOverP50Us: quantile(gaps, 0.5), handOverP99Us: quantile(gaps, 0.99) } : {}),
    ...(isStaying ? { insideP50Us: quantile(stays, 0.5) } : {}),
    ...(workers.length > 1 ? { fairness: Math.min(...counts) / Math.max(...counts) } : {}),
    cpuUs: cpuOf(workers),
    ...packetsOf(observed),
  };
}

function within(acquisitions: readonly Acquisition[], beginAt: number, endAt: number): Acquisition[] {
  return acquisitions.filter(({ from }) => from >= beginAt && from < endAt);
}

/**
 * Returns the processor time per acquisition. Each process reads its clock when it can, so its time is divided by its
 * acquisitions between its own readings.
 */
function cpuOf(workers: readonly Worked[]): number {
  let [cpuUs, count] = [0, 0];
  for (const { acquisitions, marks } of workers) {
    const [begin, end] = marks;
    cpuUs += end.cpuUs - begin.cpuUs;
    count += within(acquisitions, begin.at, end.at).length;
  }
  return cpuUs / count;
}

function packetsOf({ workers, samples, idle }: Observed): Pick<Figures, 'packetsTo' | 'packetsFrom'> {
  const [begin, end] = samples;
  if (!begin.packets || !end.packets) return {};
  const count = workers.flatMap(({ acquisitions }) => within(acquisitions, begin.at, end.at)).length;
  const [was, is, ns] = [begin.packets, end.packets, end.at - begin.at];
  return {
    packetsTo: (is.received - was.received - idle.received * ns) / count,
    packetsFrom: (is.sent - was.sent - idle.sent * ns) / count,
  };
}
