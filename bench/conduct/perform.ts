import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Contender } from '../contenders/contender.js';
import type { Crews } from '../crew/crews.js';
import type { WorkerProcess } from '../crew/worker-process.js';
import type { BenchOptions } from '../options.js';
import { Links } from '../servers/links.js';
import type { Server } from '../servers/server.js';
import type { Servers } from '../servers/servers.js';
import type { Shape } from '../shapes.js';
import type { IdlePackets } from './idle-packets.js';
import { measureFirst } from './measure-first.js';
import { measureLoop } from './measure-loop.js';
import { measureQueue } from './measure-queue.js';
import { measureTakeOver } from './measure-take-over.js';
import type { Measured, Stage } from './stage.js';
import { timesOf } from './turn-times.js';
import { needsNewProcesses, processesOf, serverOf } from './turns.js';
import type { Turn } from './turns.js';

/** The servers and processes that all measurements share. */
export interface House {
  readonly servers: Servers;
  readonly crews: Crews;
  readonly idle: IdlePackets;
  readonly options: BenchOptions;
}

/** Measures one contender on a shape. */
export async function perform(house: House, turn: Turn): Promise<Measured> {
  const { servers, crews } = house;
  const { shape, contender } = turn;
  const name = serverOf(turn);
  const server = await servers.get(name);
  const isNew = needsNewProcesses(shape);
  const workers = isNew ? crews.start(contender, processesOf(shape)) : crews.take(contender, processesOf(shape));
  try {
    return await measureWith(house, turn, workers, server);
  } catch (error) {
    // It is unknown what the workers are still doing, and whether the server still works.
    await Promise.all([...(isNew ? [] : [crews.dismiss(contender.program)]), servers.stop(name)]);
    throw error;
  } finally {
    if (isNew) await Promise.all(workers.map((worker) => worker.end()));
  }
}

async function measureWith(
  { crews: { experience }, idle, options }: House,
  turn: Turn,
  workers: readonly WorkerProcess[],
  server: Server,
): Promise<Measured> {
  const { shape, contender } = turn;
  const { module, isLocalLine = false } = contender;
  const told = { ...contender.options, isReadWrite: shape.kind === 'loop' && shape.readShare > 0 };
  const open = { do: 'open', contender: module, options: told } as const;
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const startedAt = performance.now();
  try {
    await using links = await linksOf(shape, contender, server);
    const addresses = links?.addresses ?? workers.map(() => server.address);
    await Promise.all(workers.map((worker, place) => worker.ask({ ...open, address: addresses[place]! })));
    if (contender.isReset) links?.resetAgainAndAgain();
    const workedMs = experience.leastMs(contender, workers.length);
    const measured = await measure(shape, {
      workers,
      server,
      dir,
      isLocalLine,
      ...timesOf(turn, workedMs, options, availableParallelism()),
      idlePackets: () => idle.of(turn, server),
    });
    await Promise.all(workers.map((worker) => worker.ask({ do: 'close' })));
    if (!needsNewProcesses(shape)) experience.add(contender, workers.length, performance.now() - startedAt);
    return measured;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function measure(shape: Shape, stage: Stage): Promise<Measured> {
  switch (shape.kind) {
    case 'loop':
      return measureLoop(shape, stage);
    case 'queue':
      return measureQueue(shape, stage);
    case 'take-over':
      return measureTakeOver(shape, stage);
    case 'first':
      return measureFirst(shape, stage);
  }
}

/** Returns the links of a shape whose processes are not connected directly. */
async function linksOf(shape: Shape, { isReset }: Contender, { address }: Server): Promise<Links | undefined> {
  const delayMs = shape.kind === 'loop' ? shape.linkMs : undefined;
  if (delayMs === undefined && !isReset) return undefined;
  return Links.open(processesOf(shape), address, delayMs ?? 0);
}
