import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { sharedNow } from '../clock.js';
import type { ProcessEnd } from '../model/history.js';
import { WORKER_SCRIPT } from '../places.js';
import type { Order, Report, WorkerOrders } from './orders.js';

type WriteReport = Extract<Report, { report: 'write' }>;

/** A worker, from the conductor's side. */
export class WorkerProcess {
  readonly name: string;
  readonly orders: WorkerOrders;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #output: Buffer[] = [];
  #end: ProcessEnd['end'] = 'exited';
  #isStopped = false;

  /** @param onWrite the answer of the fenced register to a write */
  constructor(orders: WorkerOrders, onWrite: (write: WriteReport) => boolean) {
    this.name = orders.process;
    this.orders = orders;
    this.#child = fork(WORKER_SCRIPT, [JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#output.push(bytes));
    this.#child.stderr?.on('data', (bytes: Buffer) => this.#output.push(bytes));
    // Sending to a process that has ended fails. The end itself is reported by its exit event.
    this.#child.on('error', () => {});
    this.#exited = once(this.#child, 'exit').then(() => {});
    this.#child.on('message', (report: Report) => {
      if (report.report !== 'write') return;
      this.#send({ order: 'answer', write: report.write, accepted: onWrite(report) });
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && !this.#isStopped;
  }

  /** @throws Error with what it printed, when it does not start */
  async ready(): Promise<void> {
    if (await this.#reported('ready', 60_000)) return;
    throw new Error(`${this.name} did not start: ${JSON.stringify(this.ended())}`);
  }

  stall(ms: number): void {
    this.#send({ order: 'stall', ms });
  }

  stop(): void {
    this.#isStopped = true;
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#isStopped = false;
    this.#child.kill('SIGCONT');
  }

  /** Kills the process, as a crash. Resolves when it has ended. */
  async kill(): Promise<void> {
    this.#end = 'killed by a fault';
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  /** Ends the traffic and runs the final round. Resolves to `false` when that does not end. */
  async finish(limitMs: number): Promise<boolean> {
    const finished = this.#reported('finished', limitMs);
    this.#send({ order: 'finish' });
    return finished;
  }

  /** Closes the service. The process then has to end by itself within the limit. */
  async close(limitMs: number): Promise<ProcessEnd> {
    this.#send({ order: 'close' });
    const lastResort = setTimeout(() => {
      this.#end = 'had to be killed';
      this.#child.kill('SIGKILL');
    }, limitMs);
    await this.#exited;
    clearTimeout(lastResort);
    return this.ended();
  }

  ended(): ProcessEnd {
    return {
      process: this.name,
      end: this.#end,
      exitCode: this.#child.exitCode,
      output: Buffer.concat(this.#output).toString().slice(-4_000),
    };
  }

  /** Kills the process, however a run ends. */
  destroy(): void {
    this.#child.kill('SIGKILL');
  }

  #send(order: Order): void {
    if (this.#child.connected) this.#child.send(order, () => {});
  }

  /** Whether the report arrived within the limit. */
  async #reported(what: Report['report'], limitMs: number): Promise<boolean> {
    const until = sharedNow() + limitMs;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), limitMs);
    void this.#exited.then(() => over.abort());
    try {
      while (sharedNow() < until) {
        const [report] = (await once(this.#child, 'message', { signal: over.signal })) as [Report];
        if (report.report === what) return true;
      }
      return false;
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
