import { forkProgram } from '../../support/child-program.js';
import type { ChildProgram } from '../../support/child-program.js';
import type { ProcessEnd } from '../model/history.js';
import { WORKER_SCRIPT } from '../places.js';
import type { Order, Report, WorkerOrders } from './orders.js';

type WriteReport = Extract<Report, { report: 'write' }>;

/** A worker, from the conductor's side. */
export class WorkerProcess {
  readonly name: string;
  readonly orders: WorkerOrders;
  readonly #program: ChildProgram<Order, Report>;
  #end: ProcessEnd['end'] = 'exited';
  #isStopped = false;

  /** @param onWrite the answer of the fenced register to a write */
  constructor(orders: WorkerOrders, onWrite: (write: WriteReport) => boolean) {
    this.name = orders.process;
    this.orders = orders;
    this.#program = forkProgram(WORKER_SCRIPT, { args: [JSON.stringify(orders)] });
    this.#program.listen((report) => {
      if (report.report !== 'write') return;
      this.#program.send({ order: 'answer', write: report.write, accepted: onWrite(report) });
    });
  }

  get isRunning(): boolean {
    return this.#program.isRunning && !this.#isStopped;
  }

  /** @throws Error with what it printed, when it does not start */
  async ready(): Promise<void> {
    await this.#program.next(({ report }) => report === 'ready', 60_000);
  }

  stall(ms: number): void {
    this.#program.send({ order: 'stall', ms });
  }

  stop(): void {
    this.#isStopped = true;
    this.#program.signal('SIGSTOP');
  }

  resume(): void {
    this.#isStopped = false;
    this.#program.signal('SIGCONT');
  }

  /** Kills the process, as a crash. Resolves when it has ended. */
  async kill(): Promise<void> {
    this.#end = 'killed by a fault';
    await this.#program.kill();
  }

  /** Ends the traffic and runs the final round. Resolves to `false` when that does not end. */
  finish(limitMs: number): Promise<boolean> {
    return this.#program
      .ask({ order: 'finish' }, limitMs, ({ report }) => report === 'finished')
      .then(
        () => true,
        () => false,
      );
  }

  /** Closes the service. The process then has to end by itself within the limit. */
  async close(limitMs: number): Promise<ProcessEnd> {
    this.#program.send({ order: 'close' });
    await this.#program.ended(limitMs).catch(() => {
      this.#end = 'had to be killed';
      return this.#program.kill();
    });
    return this.ended();
  }

  async ended(): Promise<ProcessEnd> {
    const { code, output } = await this.#program.ended();
    return { process: this.name, end: this.#end, exitCode: code, output };
  }

  /** Kills the process, however a run ends. */
  destroy(): void {
    this.#program.signal('SIGKILL');
  }
}
