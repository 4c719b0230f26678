import { join } from 'node:path';
import { forkProgram } from '../../support/child-program.js';
import type { ChildProgram } from '../../support/child-program.js';
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
  readonly #program: ChildProgram<Order, Report>;
  plans = 0;

  private constructor(execPath: string) {
    // Most objects are short-lived, so a larger semi-space saves garbage collections.
    const execArgv = ['--max-semi-space-size=32'];
    this.#program = forkProgram(SCRIPT, { execPath, execArgv, serialization: 'advanced' });
  }

  /** @param node the Node.js that it runs on */
  static async start(code: Code, node = process.execPath): Promise<Searcher> {
    const searcher = new Searcher(node);
    await searcher.#program.ask({ order: 'begin', code });
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
    const report = await this.#program.ask({ order: 'examine', plan, keep });
    if (report.report === 'examined') return report;
    throw new Error(`seed ${plan.seed}: ${report.report === 'failed' ? report.error : report.report}`);
  }

  end(): void {
    this.#program.signal('SIGTERM');
  }
}
