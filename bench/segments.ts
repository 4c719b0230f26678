/**
 * Measures the benefit of segments: 64 workers of four instances want the same key, and each holds what it gets for 5
 * ms.
 * `npm run bench:segments -- [--rounds 5] [--seconds 4] [--workers 64] [--instances 4]`
 * Ends with 1 when 16 segments grant fewer than 8 times as many as one does, or when a lock was held twice.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { LockService } from '../lib/index.js';
import { ZooKeeperServer } from '../lib/testing/index.js';
import { closeInstances, openInstances } from './support/instances.js';
import { printTable, writeResults } from './support/results.js';
import { median, quantile } from './support/statistics.js';
import { overlaps } from './support/tenures.js';
import type { ReentrantHold } from './support/tenures.js';

const SEGMENTS = [1, 4, 16];
const INSIDE_MS = 5;
const WARM_UP_MS = 500;
const FACTOR = 8;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    workers: { type: 'string', default: '64' },
    instances: { type: 'string', default: '4' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const [workers, instanceCount] = [Number(values.workers), Number(values.instances)];

interface Round {
  readonly segments: number;
  /** Resolves with the number of grants per second. */
  readonly rate: number;
  readonly waitP50Ms: number;
  readonly waitP99Ms: number;
  readonly overlaps: number;
}

await using server = await ZooKeeperServer.start();
const instances = await openInstances(instanceCount, server.connectString);
const results: Round[] = [];
for (let round = 0; round < rounds; round++) {
  // Interleaved, so that a slow minute of the machine affects all.
  for (const segments of SEGMENTS) results.push(await measure(segments));
}
await closeInstances(instances);

const summary = SEGMENTS.map((segments) => summaryOf(segments));
printTable(summary);
writeResults('segments', { options: { ...values, insideMs: INSIDE_MS }, summary, rounds: results });
process.exitCode = verdict() ? 0 : 1;

async function measure(segments: number): Promise<Round> {
  const key = `stock/${randomUUID()}`;
  const begin = performance.now() + WARM_UP_MS;
  const end = begin + seconds * 1_000;
  const [tenures, waits]: [ReentrantHold[], number[]] = [[], []];
  const work = async (instance: LockService) => {
    const lock = instance.segmented(key, { segments });
    while (performance.now() < end) {
      const asked = performance.now();
      const tenure = await lock.using(async ({ segment }) => {
        const from = performance.now();
        await pause(INSIDE_MS);
        return { lock: segment, from, to: performance.now() };
      });
      tenures.push(tenure);
      if (tenure.from >= begin && tenure.to < end) waits.push(tenure.from - asked);
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, place) => work(instances[place % instances.length]!)));
  return {
    segments,
    rate: waits.length / seconds,
    waitP50Ms: quantile(waits, 0.5),
    waitP99Ms: quantile(waits, 0.99),
    overlaps: overlaps(tenures),
  };
}

function summaryOf(segments: number) {
  const own = results.filter((round) => round.segments === segments);
  const of = (field: keyof Round) => median(own.map((round) => round[field]));
  return {
    segments,
    'calls/s': of('rate').toFixed(0),
    'times one segment': (of('rate') / rateOf(1)).toFixed(1),
    'wait p50 ms': of('waitP50Ms').toFixed(1),
    'wait p99 ms': of('waitP99Ms').toFixed(1),
    overlaps: own.reduce((sum, round) => sum + round.overlaps, 0),
  };
}

function rateOf(segments: number): number {
  return median(results.filter((round) => round.segments === segments).map(({ rate }) => rate));
}

function verdict(): boolean {
  const overlapping = results.filter((round) => round.overlaps > 0).length;
  if (overlapping > 0) console.error(`a segment was held twice at once in ${overlapping} of ${results.length} rounds`);
  const factor = rateOf(16) / rateOf(1);
  const isEnough = factor >= FACTOR;
  console.log(`16 segments: ${factor.toFixed(1)} times one segment (at least ${FACTOR}: ${isEnough ? 'yes' : 'NO'})`);
  return isEnough && overlapping === 0;
}
