import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { LoopOrder } from '../crew/orders.js';
import type { WorkerProcess } from '../crew/worker-process.js';
import type { Server } from '../servers/server.js';
import type { LoopShape } from '../shapes.js';
import { monotonicNs, until } from '../support/clock.js';
import { readAcquisitions } from '../support/tenure-file.js';
import { overlaps } from '../support/tenures.js';
import { figuresOf } from './figures.js';
import type { Sample } from './figures.js';
import type { Measured, Stage } from './stage.js';

/** Orders must arrive before anything begins. */
export const AHEAD_MS = 20;
/**
 * The longest time that callers may be queued after the end of the window. The slowest ones are, with many callers per
 * key.
 */
const PATIENCE_MS = 120_000;
/**
 * The number of holds in the warm-up that last a millisecond, shared by all callers. Holds of no duration would never
 * overlap.
 */
const LINGERS = 128;
const MOST_LINGERS = 5;

/** Runs one window for the callers of all workers. */
export async function measureLoop(shape: LoopShape, stage: Stage): Promise<Measured> {
  const { workers, server, warmUpMs, windowMs } = stage;
  const idle = await stage.idlePackets();
  const beginAt = monotonicNs() + Math.round((AHEAD_MS + warmUpMs) * 1e6);
  const endAt = beginAt + Math.round(windowMs * 1e6);
  const orders = ordersFor(workers, shape, stage.dir, { beginAt, endAt });
  const withinMs = AHEAD_MS + warmUpMs + windowMs + PATIENCE_MS;
  const reports = Promise.all(workers.map((worker, place) => worker.ask(orders[place]!, withinMs)));
  const [samples, marks] = await Promise.all([samplesOf(server, beginAt, endAt), reports]);
  const worked = orders.map(({ file }, place) => ({
    acquisitions: readAcquisitions(file),
    marks: marks[place]!.marks,
  }));
  const isOneLine =
    shape.keys === 'one' && shape.pauseMs === 0 && shape.readShare === 0 && shape.processes * shape.callers > 1;
  const all = worked.flatMap(({ acquisitions }) => acquisitions);
  return {
    figures: figuresOf({ beginAt, endAt, isOneLine, isStaying: shape.insideMs > 0, workers: worked, samples, idle }),
    acquisitions: all.length,
    overlaps: overlaps(all),
  };
}

function ordersFor(
  workers: readonly WorkerProcess[],
  { keys, callers, pauseMs, insideMs, readShare, processes }: LoopShape,
  dir: string,
  times: Pick<LoopOrder, 'beginAt' | 'endAt'>,
): LoopOrder[] {
  const run = randomUUID();
  const lingers = { times: Math.min(MOST_LINGERS, Math.ceil(LINGERS / (processes * callers))), ms: 1 };
  return workers.map((_, place) => {
    const own = Array.from({ length: callers }, (_, caller) => place * callers + caller);
    const locks = keys === 'one' ? [0] : own;
    const file = join(dir, `${run}-${place}`);
    const orders = { callers, areKeysNew: keys === 'new', pauseMs, insideMs, lingers, readShare, file, ...times };
    return { do: 'loop', keys: locks.map((lock) => `${run}-${lock}`), locks, ...orders };
  });
}

async function samplesOf(server: Server, beginAt: number, endAt: number): Promise<[Sample, Sample]> {
  const sample = async (at: number) => {
    await until(at);
    return { packets: await server.counts(), at: monotonicNs() };
  };
  return [await sample(beginAt), await sample(endAt)];
}
