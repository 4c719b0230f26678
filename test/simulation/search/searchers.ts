import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { COMPILED } from '../places.js';
import type { Examined, PlanOfTraffic } from './examine.js';
import type { Order, Report } from './messages.js';
import type { Code } from './zookeeper-backend.js';

const SCRIPT = join(COMPILED, 'test', 'simulation', 'search', 'searcher.js');

/** The number of plans after which a searcher process is replaced. Instances of the code stay in a process. */
const PLANS_PER_PROCESS = 100;

/** Several searcher processes, each with one plan at a time. */
export class Searchers {
  readonly #code: Code;
  readonly #count: number;

  constructor(code: Code, count: number) {
    this.#code = code;
    this.#count = count;
  }

  /**
   * Examines plan after plan. `next` returns a plan, or `undefined` to end. `examined` is called with each result.
   * @throws Error when the simulation itself has failed
   */
  async examineAll(
    next: () => PlanOfTraffic | undefined,
    examined: (one: Examined, plan: PlanOfTraffic) => void,
  ): Promise<void> {
    await Promise.all(Array.from({ length: this.#count }, () => this.#examine(next, examined)));
  }

  async #examine(
    next: () => PlanOfTraffic | undefined,
    examined: (one: Examined, plan: PlanOfTraffic) => void,
  ): Promise<void> {
    let searcher: Searcher | undefined;
    try {
      for (let plan = next(); plan; plan = next()) {
        searcher = await Searcher.startUnlessFresh(searcher, this.#code);
        examined((await searcher.examine(plan)).examined, plan);
      }
    } finally {
      searcher?.end();
    }
  }
}

/** A searcher process. */
export class Searcher {
  readonly #child: ChildProcess;
  plans = 0;

  private constructor(execPath: string) {
    // Most objects are short-lived, so a larger semi-space saves garbage collections.
    this.#child = fork(SCRIPT, [], { execPath, execArgv: ['--max-semi-space-size=32'], serialization: 'advanced' });
  }

  /** @param node the Node.js that it runs on */
  static async start(code: Code, node = process.execPath): Promise<Searcher> {
    const searcher = new Searcher(node);
    await searcher.#ask({ order: 'begin', code });
    return searcher;
  }

  /** Returns the given searcher, or a new one in its place if it has examined as many plans as a process may. */
  static async startUnlessFresh(searcher: Searcher | undefined, code: Code, node?: string): Promise<Searcher> {
    if (searcher && searcher.plans < PLANS_PER_PROCESS) return searcher;
    searcher?.end();
    return Searcher.start(code, node);
  }

  /** Examines a plan. With `keep`, everything that happened is kept as text. */
  async examine(plan: PlanOfTraffic, keep = false): Promise<Extract<Report, { report: 'examined' }>> {
    this.plans++;
    const report = await this.#ask({ order: 'examine', plan, keep });
    if (report.report === 'examined') return report;
    throw new Error(`seed ${plan.seed}: ${report.report === 'failed' ? report.error : report.report}`);
  }

  end(): void {
    this.#child.kill();
  }

  async #ask(order: Order): Promise<Report> {
    const over = new AbortController();
    const { signal } = over;
    const exited = once(this.#child, 'exit', { signal }).then(([code]) => {
      throw new Error(`a process that simulates ended with ${String(code)}`);
    });
    try {
      const reported = once(this.#child, 'message', { signal }) as Promise<[Report]>;
      this.#child.send(order);
      const [report] = await Promise.race([reported, exited]);
      return report as Report;
    } finally {
      exited.catch(() => {});
      over.abort();
    }
  }
}
