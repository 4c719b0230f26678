import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Contender } from '../contenders/contender.js';
import type { Crews } from '../crew/crews.js';
import { BREAK_IN } from '../crew/programs.js';
import type { WorkerProcess } from '../crew/worker-process.js';
import type { BenchOptions } from '../options.js';
import { Links } from '../servers/links.js';
import type { Packets, Server } from '../servers/server.js';
import type { Servers } from '../servers/servers.js';
import type { Shape } from '../shapes.js';
import { monotonicNs } from '../support/clock.js';
import { measureFirst } from './measure-first.js';
import { measureLoop } from './measure-loop.js';
import { measureQueue } from './measure-queue.js';
import { measureTakeOver } from './measure-take-over.js';
import type { Measured, Stage } from './stage.js';

const FEWEST_SHARING = 4;

/** The servers and processes that all measurements share. */
export interface House {
  readonly servers: Servers;
  readonly crews: Crews;
  readonly options: BenchOptions;
}

/** Measures one contender on a shape. */
export async function perform(house: House, shape: Shape, contender: Contender): Promise<Measured> {
  const { servers, crews, options } = house;
  const name = serverOf(shape, contender);
  const server = await servers.get(name);
  // The earlier work of a process must not show in its figures.
  if (shape.kind === 'queue' || shape.kind === 'first') await crews.dismiss(contender.program);
  const workers = crews.take(contender.program, processesOf(shape));
  const dir = mkdtempSync(join(tmpdir(), 'bench-'));
  const { module, isLocalLine = false } = contender;
  const told = { ...contender.options, isReadWrite: shape.kind === 'loop' && shape.readShare > 0 };
  const open = { do: 'open', contender: module, options: told } as const;
  const startedAt = performance.now();
  try {
    await using links = await linksOf(shape, contender, server);
    const addresses = links?.addresses ?? workers.map(() => server.address);
    await Promise.all(workers.map((worker, place) => worker.ask({ ...open, address: addresses[place]! })));
    if (contender.isReset) links?.resetAgainAndAgain();
    const measured = await measure(shape, {
      workers,
      server,
      dir,
      isLocalLine,
      windowMs: options.windowMs,
      warmUpMs: options.isShort ? options.warmUpMs : warmUpMs(workers, contender, options),
      idlePackets: () => idlePackets(server, options.idleMs),
    });
    await Promise.all(workers.map((worker) => worker.ask({ do: 'close' })));
    for (const worker of workers) worker.hasWorked(module, performance.now() - startedAt);
    return measured;
  } catch (error) {
    // It is unknown what the workers are still doing, and whether the server still works.
    await Promise.all([crews.dismiss(contender.program), servers.stop(name)]);
    throw error;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * Returns the warm-up time.
 * - Each process gets as much processor time as a single one would have.
 * - The process with the least experience of these locks gets the rest of its break-in time.
 *
 * A process that has just connected, or was idle for a while, runs its code as if for the first time.
 */
function warmUpMs(
  workers: readonly WorkerProcess[],
  { program, module }: Contender,
  { warmUpMs }: BenchOptions,
): number {
  const { length: processes } = workers;
  const breakInMs = warmUpMs * BREAK_IN[program] * Math.max(FEWEST_SHARING, processes);
  const workedMs = Math.min(...workers.map((worker) => worker.workedMs(module)));
  return warmUpMs * Math.max(1, processes / availableParallelism()) + Math.max(0, breakInMs - workedMs);
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

function serverOf({ nodes }: Shape, { server }: Contender) {
  return server === 'zookeeper' && nodes === 3 ? 'ensemble' : server;
}

function processesOf(shape: Shape): number {
  switch (shape.kind) {
    case 'loop':
      return shape.processes;
    case 'queue':
    case 'first':
      return 1;
    case 'take-over':
      return 2;
  }
}

async function idlePackets(server: Server, idleMs: number): Promise<Packets> {
  const [began, before] = [monotonicNs(), await server.counts()];
  if (!before) return { received: 0, sent: 0 };
  await pause(idleMs);
  const after = (await server.counts())!;
  const ns = monotonicNs() - began;
  return { received: (after.received - before.received) / ns, sent: (after.sent - before.sent) / ns };
}
