import type { CpuMark } from '../crew/orders.js';
import type { Packets } from '../servers/server.js';
import { quantile } from '../support/statistics.js';
import type { Acquisition } from '../support/tenure-file.js';
import { handOvers } from '../support/tenures.js';

/** What is measured. Not every shape has all of it. */
export interface Figures {
  /** Acquisitions in a second. */
  readonly rate?: number;
  /** To ask for it, get it and give it back, in microseconds. */
  readonly p50Us?: number;
  readonly p99Us?: number;
  /** To ask for it and get it, in microseconds. */
  readonly acquireP50Us?: number;
  /** From the end of one tenure to the begin of the next, in microseconds. */
  readonly handOverP50Us?: number;
  readonly handOverP99Us?: number;
  /** From getting it to beginning to give it back, where callers stay for a while, in microseconds. */
  readonly insideP50Us?: number;
  /** The acquisitions of the process that had fewest, by those of the one that had most. */
  readonly fairness?: number;
  /** Processor time of the clients for one acquisition, in microseconds. */
  readonly cpuUs?: number;
  /** Messages to the server and from it for one acquisition. */
  readonly packetsTo?: number;
  readonly packetsFrom?: number;
  /** Until so many callers stood in line, in milliseconds. */
  readonly enqueueMs?: number;
  /** Of the waiting callers' process, what grew by each of them. */
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
  /** Whether all of them want the same key, for themselves. */
  readonly isOneLine: boolean;
  /** Whether callers stay inside for a while. */
  readonly isStaying: boolean;
  /** Of each process. */
  readonly workers: readonly Worked[];
  readonly samples: readonly [Sample, Sample];
  /** Messages of sessions that do nothing, in a nanosecond. */
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

/** Each process looks at its clock when it can, so each is divided by what it did between. */
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
