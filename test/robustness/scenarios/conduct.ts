import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { runLane } from '../failpoints/schedule.js';
import type { FaultLog } from '../failpoints/schedule.js';
import type { Fault, History, Leftover, ProcessEnd, WakeUps } from '../model/history.js';
import { readJournal } from '../model/read-journal.js';
import { FINAL_MODES, keysOf } from '../traffic/orders.js';
import { Cluster } from './cluster.js';
import type { Scenario } from './scenario.js';
import { leftoversOf } from './leftovers.js';

/** The state of a run while it lasts. */
export interface Progress {
  readonly phase: 'start' | 'traffic' | 'final round' | 'idle' | 'close';
  readonly writes: number;
  readonly faults: number;
  /** The active faults. */
  readonly broken: readonly string[];
}

export interface RunOptions {
  readonly seed: number;
  readonly seconds: number;
  /** Called at every change, and every second. */
  readonly onProgress?: (progress: Progress) => void;
}

// The time that a worker may take to end when it has no work left.
const EXIT_LIMIT_MS = 15_000;

/** Conducts one run, from the start of the servers to the end of the last worker. Resolves with its history. */
export async function conduct(scenario: Scenario, options: RunOptions): Promise<History> {
  const run = new Run(scenario, options);
  return run.history();
}

class Run {
  readonly #scenario: Scenario;
  readonly #options: RunOptions;
  readonly #faults: Fault[] = [];
  readonly #broken = new Set<string>();
  #phase: Progress['phase'] = 'start';
  #writes: readonly unknown[] = [];

  constructor(scenario: Scenario, options: RunOptions) {
    this.#scenario = scenario;
    this.#options = options;
  }

  async history(): Promise<History> {
    const ticking = setInterval(() => this.#tell(), 1_000);
    try {
      await using cluster = await Cluster.start(this.#scenario, this.#options.seed);
      this.#writes = cluster.writes;
      await this.#traffic(cluster);
      const wakeUps = this.#scenario.countsWakeUps ? await cluster.servers.wakeUps?.() : undefined;
      const left = await this.#quiesce(cluster);
      const { ends, leftClosed } = await this.#close(cluster);
      return this.#assemble(cluster, ends, [...left, ...leftClosed], wakeUps);
    } finally {
      clearInterval(ticking);
    }
  }

  async #traffic(cluster: Cluster): Promise<void> {
    this.#enter('traffic');
    const { seed, seconds } = this.#options;
    const { sessionTimeoutMs, faultLengths: lengths } = this.#scenario;
    const over = AbortSignal.timeout(seconds * 1_000);
    const lanes = Object.entries(this.#scenario.lanes).map(([lane, failpoints]) =>
      runLane({ seed, lane, failpoints, sessionTimeoutMs, lengths }, cluster, over, this.#faultLog),
    );
    await Promise.all([...lanes, pause(seconds * 1_000)]);
    await cluster.restore();
  }

  /** Stops the traffic, and lets every worker acquire every key once more. */
  async #quiesce({ seats, servers, basePath }: Cluster): Promise<Leftover[]> {
    this.#enter('final round');
    const limitMs = 3 * this.#scenario.finalLimitMs;
    const finished = await Promise.all(seats.map(({ worker }) => worker.finish(limitMs)));
    this.#enter('idle');
    // A stuck worker has contenders in a queue. The final round reports that already.
    return finished.every(Boolean) ? leftoversOf(servers, basePath, 'idle') : [];
  }

  async #close({ seats, servers, basePath }: Cluster): Promise<{ ends: ProcessEnd[]; leftClosed: Leftover[] }> {
    this.#enter('close');
    const ends = await Promise.all(seats.map(({ worker }) => worker.close(EXIT_LIMIT_MS)));
    const leftClosed = await leftoversOf(servers, basePath, 'closed');
    const killed = await Promise.all(seats.map((seat) => seat.casualties()));
    return { ends: [...ends, ...killed.flat()], leftClosed };
  }

  #assemble({ seats, writes }: Cluster, ends: ProcessEnd[], leftovers: Leftover[], wakeUps?: WakeUps): History {
    const journals = seats.flatMap((seat) =>
      seat.processes.map(({ name }) => readJournal(name, readFileSync(seat.journalOf(name), 'utf8'))),
    );
    return {
      scenario: this.#scenario.name,
      backend: this.#scenario.backend,
      seed: this.#options.seed,
      holds: journals.flatMap(({ holds }) => holds),
      attempts: journals.flatMap(({ attempts }) => attempts),
      answers: journals.flatMap(({ answers }) => answers),
      finals: journals.flatMap(({ finals }) => finals),
      warnings: journals.flatMap(({ warnings }) => warnings),
      finalsDue: FINAL_MODES.length * this.#scenario.traffic.flatMap(keysOf).length,
      writes,
      faults: this.#faults,
      ends,
      leftovers,
      wakeUps,
    };
  }

  readonly #faultLog: FaultLog = {
    began: (name, target) => {
      this.#broken.add(`${name} (${target})`);
      this.#tell();
    },
    ended: (fault) => {
      this.#faults.push(fault);
      this.#broken.delete(`${fault.name} (${fault.target})`);
      this.#tell();
    },
  };

  #enter(phase: Progress['phase']): void {
    this.#phase = phase;
    this.#tell();
  }

  #tell(): void {
    this.#options.onProgress?.({
      phase: this.#phase,
      writes: this.#writes.length,
      faults: this.#faults.length,
      broken: [...this.#broken],
    });
  }
}
