import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { deferred } from '../../lib/async/deferred.js';
import type { Deferred } from '../../lib/async/deferred.js';
import { orTimeout } from '../../lib/async/timer.js';
import type { Order, Reports } from './orders.js';
import type { Program } from './programs.js';

const LAST_WORDS = 4_000;

/** One process of a contender. It gets one order at a time, and answers each. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #workedMs = new Map<string, number>();
  #answer: Deferred<object> | undefined;
  #fault: Error | undefined;
  #errors = '';

  constructor({ argv: [program, ...args], env }: Program) {
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#answer?.resolve(JSON.parse(line)));
    this.#child.stderr!.on('data', (text) => (this.#errors = (this.#errors + String(text)).slice(-LAST_WORDS)));
    this.#child.stdin!.on('error', () => {});
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#ended(error.message, resolve));
      this.#child.once('exit', (code, signal) => this.#ended(`it ended with ${signal ?? code}`, resolve));
    });
  }

  /** Sends an order. @throws Error with the worker's message, when it fails or takes longer than `withinMs` */
  async ask<T extends Order>(order: T, withinMs = 60_000): Promise<Reports[T['do']]> {
    if (this.#fault) throw this.#fault;
    const answer = deferred<object>();
    this.#answer = answer;
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
    const late = () => new Error(`no answer to "${order.do}" within ${withinMs} ms\n${this.#errors}`);
    const report = (await orTimeout(answer.promise, withinMs, late)) as { readonly error?: string };
    if (report.error !== undefined) throw new Error(`"${order.do}" failed: ${report.error}`);
    return report as Reports[T['do']];
  }

  /**
   * Returns how long it has worked with a contender's locks. Work of other contenders does not compile this one's code.
   */
  workedMs(module: string): number {
    return this.#workedMs.get(module) ?? 0;
  }

  hasWorked(module: string, ms: number): void {
    this.#workedMs.set(module, this.workedMs(module) + ms);
  }

  /** Asks the process to end, and kills it after `withinMs`. */
  async end(withinMs = 2_000): Promise<void> {
    this.#child.stdin!.end();
    const lastResort = setTimeout(() => this.#child.kill('SIGKILL'), withinMs);
    await this.#exited;
    clearTimeout(lastResort);
  }

  #ended(why: string, resolve: () => void): void {
    resolve();
    this.#fault = new Error(`a worker is gone: ${why}\n${this.#errors}`);
    this.#answer?.promise.catch(() => {});
    this.#answer?.reject(this.#fault);
  }
}
