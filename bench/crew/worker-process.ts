import { spawnProgram } from '../../test/support/child-program.js';
import type { ChildProgram } from '../../test/support/child-program.js';
import type { Order, Reports } from './orders.js';
import type { Program } from './programs.js';

/** One process of a contender. It gets one order at a time, and answers each. */
export class WorkerProcess {
  readonly #program: ChildProgram<Order, object>;

  constructor({ argv, env }: Program) {
    this.#program = spawnProgram('a worker', argv, { ...process.env, ...env });
  }

  /** Sends an order. @throws Error with the worker's message, when it fails or takes longer than `withinMs` */
  async ask<T extends Order>(order: T, withinMs = 60_000): Promise<Reports[T['do']]> {
    const report: { readonly error?: string } = await this.#program.ask(order, withinMs);
    if (report.error !== undefined) throw new Error(`"${order.do}" failed: ${report.error}`);
    return report as Reports[T['do']];
  }

  /** Asks the process to end, and kills it after `withinMs`. */
  async end(withinMs = 2_000): Promise<void> {
    this.#program.endInput();
    await this.#program.ended(withinMs).catch(() => this.#program.kill());
  }
}
