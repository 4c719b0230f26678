import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import type { RecordChange, RecordStore } from '../../../lib/contract/record-store.js';
import { currentRun } from '../../../lib/schedule/current-run.js';
import { MemoryRecords } from '../../../lib/memory/memory-records.js';
import { ObservedBackend } from '../service/observed.backend.js';
import { jobWith, startNode } from './jobs.js';
import type { CronLockOptions } from '../../../lib/schedule/cron-lock.options.js';

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) }));
afterEach(() => void vi.useRealTimers());

const virtual = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A backend with latency: some milliseconds before each request is served, and some before its reply arrives. */
class DistantBackend extends ObservedBackend {
  override readonly records: MemoryRecords;

  constructor(
    private readonly latencyMs: () => number,
    records: MemoryRecords = new DistantRecords(latencyMs),
  ) {
    super();
    this.records = records;
  }

  override async acquire(request: LockRequest): Promise<GrantedLease | null> {
    await virtual(this.latencyMs());
    const lease = await super.acquire(request);
    await virtual(this.latencyMs());
    return lease;
  }
}

class DistantRecords extends MemoryRecords {
  constructor(private readonly latencyMs: () => number) {
    super();
  }

  override read(name: string) {
    return this.slowly(() => super.read(name));
  }

  override write(changes: readonly RecordChange[]) {
    return this.slowly(() => super.write(changes));
  }

  private async slowly<T>(work: () => Promise<T>): Promise<T> {
    await virtual(this.latencyMs());
    const result = await work();
    await virtual(this.latencyMs());
    return result;
  }
}

/** A planted defect: a store that remembers nothing, so that only the lock is left. */
class Forgetful extends DistantRecords implements RecordStore {
  override async read(): Promise<undefined> {
    return undefined;
  }

  override write(changes: readonly RecordChange[]) {
    return super.write(changes.map(({ name, value }) => ({ name, value })));
  }
}

interface Cluster {
  readonly skewsMs: readonly number[];
  readonly latenciesMs: readonly number[];
  readonly latenessMs: readonly number[];
  readonly workMs: number;
  readonly options?: CronLockOptions;
}

const TICKS = 12;

/** The ticks that were run, in the order of their runs. All nodes run from the first tick to the last. */
async function ticksRun(cluster: Cluster, isForgetful = false): Promise<number[]> {
  const { skewsMs, latenciesMs, latenessMs, workMs, options } = cluster;
  const latencyMs = circular(latenciesMs);
  const records = isForgetful ? new Forgetful(latencyMs) : undefined;
  const backend = new DistantBackend(latencyMs, records);
  const late = circular(latenessMs);
  const ran: number[] = [];
  const job = jobWith(options);
  const body = async () => {
    ran.push(currentRun()?.tick?.getTime() ?? NaN);
    await virtual(workMs);
  };
  const start = Date.now();
  for (const skewMs of skewsMs) {
    const { jobs } = startNode(backend, () => Date.now() + skewMs);
    for (let tick = 1; tick <= TICKS; tick++) {
      setTimeout(() => void jobs.fire(job, body), 1_000 * tick - skewMs + late());
    }
  }
  await vi.advanceTimersByTimeAsync((TICKS + 4) * 1_000);
  return ran.map((tick) => (tick - start) / 1_000);
}

function circular(values: readonly number[]): () => number {
  let place = 0;
  return () => values[place++ % values.length] ?? 0;
}

const all = Array.from({ length: TICKS }, (_, place) => place + 1);
const several = (most: number, count: number) =>
  fc.array(fc.integer({ min: 0, max: most }), { minLength: count, maxLength: count });
const clusters = (options: CronLockOptions) =>
  fc.record<Cluster>({
    skewsMs: fc.array(fc.integer({ min: -400, max: 400 }), { minLength: 5, maxLength: 5 }),
    latenciesMs: several(30, 37),
    latenessMs: several(150, 41),
    workMs: fc.integer({ min: 0, max: 60 }),
    options: fc.constant(options),
  });

describe('five nodes whose clocks differ by up to 800 ms, each second', () => {
  it.each<CronLockOptions>([{}, { onCrash: 'rerun' }])('run each tick once, and in order: %j', async (options) => {
    await fc.assert(
      fc.asyncProperty(clusters(options), async (cluster) => {
        expect(await ticksRun(cluster)).toEqual(all);
      }),
      { numRuns: 25 },
    );
  });

  it('run ticks twice with a planted forgetful marker store, so the test above can fail', async () => {
    const cluster = { skewsMs: [0, 300, -350, 400, -400], latenciesMs: [3, 5], latenessMs: [0, 7], workMs: 20 };
    const ran = await ticksRun(cluster, true);
    expect(ran.length).toBeGreaterThan(2 * new Set(ran).size);
  });

  it.each([1, 5])(
    'run only some of the ticks, each once, where replies take longer than a tick: %i nodes',
    async (count) => {
      const skewsMs = Array.from({ length: count }, (_, place) => place * 20);
      const ran = await ticksRun({ skewsMs, latenciesMs: [300], latenessMs: [0], workMs: 0 });
      expect(ran.length).toBeGreaterThanOrEqual(3);
      expect(ran).toEqual([...new Set(ran)].toSorted((one, other) => one - other));
    },
  );

  it('run no tick again when a clock is set back', async () => {
    let skewMs = 0;
    const { jobs } = startNode(new ObservedBackend(), () => Date.now() + skewMs);
    const ran: (Date | undefined)[] = [];
    const body = async () => void ran.push(currentRun()?.tick);
    for (let second = 0; second < 10; second++) {
      await vi.advanceTimersByTimeAsync(1_000);
      if (second === 4) skewMs = -3_000;
      await jobs.fire(jobWith(), body);
    }
    const ticks = ran.map((tick) => tick?.getTime());
    expect(ticks).toEqual([...new Set(ticks)]);
    expect(ticks).toHaveLength(7);
  });
});
