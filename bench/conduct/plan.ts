import { availableParallelism } from 'node:os';
import { Experience } from '../crew/experience.js';
import type { ProgramName } from '../crew/programs.js';
import type { BenchOptions } from '../options.js';
import type { ServerName } from '../servers/servers.js';
import { AHEAD_MS } from './measure-loop.js';
import { serverBreakInMs, timesOf } from './turn-times.js';
import { needsNewProcesses, processesOf, serverOf } from './turns.js';
import type { Turn } from './turns.js';

/** Connections are opened and closed, the last callers come through, and all acquisitions are read and compared. */
const AROUND_MS = 400;
/** The processor time of a new process until it can work. */
const START_MS: Readonly<Record<ProgramName, number>> = { node: 500, java: 1_500, python: 500 };
/** The time of a new server until it answers. Only those on Java machines have a break-in. */
const SERVERS: Readonly<Record<ServerName, { readonly startMs: number; readonly isJava: boolean }>> = {
  zookeeper: { startMs: 2_000, isJava: true },
  ensemble: { startMs: 6_000, isJava: true },
  redis: { startMs: 200, isJava: false },
  'redis-fsync': { startMs: 200, isJava: false },
  etcd: { startMs: 500, isJava: false },
};
/** A wait queue forms, is still twice, and goes. */
const QUEUE_MS = 2_500;
/** One process acquires a key and releases it, then the other. */
const TAKE_OVER_MS = 30;
const FIRST_MS = 10;

/**
 * Returns the planned time of each turn of a run, in milliseconds. Warm-ups, windows and break-ins are those of the run.
 * The other times were calibrated by the log of a run of 624 turns: it took 50 minutes, and its plan is 51.
 */
export function planOf(
  turns: readonly Turn[],
  options: BenchOptions,
  processors = availableParallelism(),
): readonly number[] {
  const plan = new Plan(options, processors);
  return turns.map((turn) => plan.next(turn));
}

/** The servers, processes and experience that there will be. */
class Plan {
  readonly #options: BenchOptions;
  readonly #processors: number;
  readonly #servers = new Set<ServerName>();
  readonly #processes = new Map<ProgramName, number>();
  readonly #experience = new Experience();

  constructor(options: BenchOptions, processors: number) {
    this.#options = options;
    this.#processors = processors;
  }

  next(turn: Turn): number {
    const { shape, contender } = turn;
    const serverMs = this.#serverMs(serverOf(turn));
    const ms = this.#startMs(turn) + this.#workMs(turn) + AROUND_MS;
    if (!needsNewProcesses(shape)) this.#experience.add(contender, processesOf(shape), ms);
    return serverMs + ms;
  }

  #serverMs(name: ServerName): number {
    if (this.#servers.has(name)) return 0;
    this.#servers.add(name);
    const { startMs, isJava } = SERVERS[name];
    return startMs + (isJava ? serverBreakInMs(this.#options) : 0);
  }

  #startMs({ shape, contender: { program } }: Turn): number {
    const wanted = processesOf(shape);
    const running = needsNewProcesses(shape) ? 0 : (this.#processes.get(program) ?? 0);
    if (!needsNewProcesses(shape)) this.#processes.set(program, Math.max(running, wanted));
    const starting = Math.max(0, wanted - running);
    return START_MS[program] * Math.max(Math.min(1, starting), starting / this.#processors);
  }

  #workMs(turn: Turn): number {
    const { shape, contender } = turn;
    switch (shape.kind) {
      case 'loop': {
        const workedMs = this.#experience.leastMs(contender, shape.processes);
        const { warmUpMs, windowMs } = timesOf(turn, workedMs, this.#options, this.#processors);
        return this.#idleMs(turn) + AHEAD_MS + warmUpMs + windowMs;
      }
      case 'queue':
        return QUEUE_MS;
      case 'take-over':
        return TAKE_OVER_MS * shape.times;
      case 'first':
        return FIRST_MS * shape.times;
    }
  }

  /** Only ZooKeeper counts messages. */
  #idleMs({ contender, round }: Turn): number {
    return contender.server === 'zookeeper' && round === 0 ? this.#options.idleMs : 0;
  }
}
