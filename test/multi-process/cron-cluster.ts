import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { freshBasePath } from '../support/base-path.js';
import { startWorker } from './start-worker.js';
import type { CronEntry, CronMessage, CronOrders } from './workers/orders.js';

const SKEWS_MS = [0, 400, -400, 250, -150];
const FASTEST_MS = Math.max(...SKEWS_MS);
export const SECOND_MS = 1_000;
/**
 * Starts processes with one job each, whose wall clocks are wrong by `skewsMs`. Resolves when all of them are ready.
 */
export async function start(job: CronOrders['job'], skewsMs: readonly number[]) {
  const directory = await mkdtemp(join(tmpdir(), 'cron-'));
  const journal = join(directory, 'journal');
  await writeFile(journal, '');
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const shared = { connectString: inject('zookeeper'), basePath: freshBasePath(), sessionTimeoutMs: 4_000 };
  const workers = skewsMs.map((skewMs) =>
    startWorker('cron', { ...shared, skewMs, job, journal, workMs: 30 } satisfies CronOrders),
  );
  const said = await Promise.all(workers.map((worker) => worker.next()));
  const wrongBy = said.map((message) => Number(message['wrongBy']));
  const read = async (): Promise<readonly CronEntry[]> =>
    (await readFile(journal, 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as CronEntry);
  return { shared, workers, wrongBy, read };
}

/** Waits, on this process's correct clock, until the journal has passed `last`, and ends the processes. */
async function until(
  last: number,
  { workers, read }: Awaited<ReturnType<typeof start>>,
): Promise<readonly CronEntry[]> {
  const deadline = last + 30 * SECOND_MS;
  while ((await read()).every(({ tick }) => tick < last + 2 * SECOND_MS) && Date.now() < deadline) await seconds(0.2);
  workers.forEach((worker) => worker.send({ say: 'close' } satisfies CronMessage));
  await Promise.all(workers.map((worker) => worker.succeeded()));
  return read();
}

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * SECOND_MS));

/** Finds the ticks from `first` to `last` that never ran, and those that ran more than once. */
function audit(entries: readonly CronEntry[], first: number, last: number) {
  const counts = new Map<number, number>();
  for (const { tick } of entries) counts.set(tick, (counts.get(tick) ?? 0) + 1);
  const ticks = Array.from({ length: (last - first) / SECOND_MS + 1 }, (_, place) => first + place * SECOND_MS);
  const runs = ticks.reduce((sum, tick) => sum + (counts.get(tick) ?? 0), 0);
  const twice = [...counts].filter(([, count]) => count > 1).map(([tick]) => tick);
  return { ticks: ticks.length, runs, missing: ticks.filter((tick) => !counts.has(tick)), twice };
}

/** Lets five processes with skewed clocks fire each second for `ticks` ticks, from the first that all of them see. */
export async function watched(job: CronOrders['job'], ticks: number) {
  const cluster = await start(job, SKEWS_MS);
  cluster.wrongBy.forEach((ms, place) => expect(Math.abs(ms - SKEWS_MS[place]!)).toBeLessThan(50));
  const first = Math.ceil((Date.now() + FASTEST_MS) / SECOND_MS) * SECOND_MS + SECOND_MS;
  const last = first + (ticks - 1) * SECOND_MS;
  const entries = await until(last, cluster);
  return { ...audit(entries, first, last), runners: new Set(entries.map(({ pid }) => pid)).size };
}
