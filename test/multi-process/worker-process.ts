import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A process of its own that runs `workers/<name>.worker.ts`. It is killed when the test has finished. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #output: Buffer[] = [];

  constructor(name: string, orders: object) {
    const script = `${root}/build/multi-process/test/multi-process/workers/${name}.worker.js`;
    this.#child = fork(script, [JSON.stringify(orders)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child.stdout?.on('data', (bytes: Buffer) => this.#output.push(bytes));
    this.#child.stderr?.on('data', (bytes: Buffer) => this.#output.push(bytes));
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Sends a message to the worker. */
  send(message: object): void {
    this.#child.send(message);
  }

  /** Resolves when the worker has sent `count` more messages, or has ended. */
  async heard(count: number): Promise<void> {
    let left = count;
    await new Promise<void>((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.on('message', () => --left === 0 && resolve());
    });
  }

  /** Resolves with the next message of the worker. */
  async message(): Promise<Record<string, unknown>> {
    const gone = new AbortController();
    const exit = once(this.#child, 'exit', { signal: gone.signal }).then(([code]) => {
      throw new Error(`the worker ended with ${code}: ${Buffer.concat(this.#output).toString()}`);
    });
    exit.catch(() => {});
    try {
      const [message] = await Promise.race([once(this.#child, 'message', { signal: gone.signal }), exit]);
      return message as Record<string, unknown>;
    } finally {
      gone.abort();
    }
  }

  /** Sends a message, and resolves with the next message of the worker. */
  async ask(): Promise<Record<string, unknown>> {
    const answer = this.message();
    this.send({});
    return answer;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when the worker has ended with success. @throws Error with its output otherwise */
  async finished(): Promise<void> {
    const [code] = this.#child.exitCode === null ? await once(this.#child, 'exit') : [this.#child.exitCode];
    if (code !== 0) throw new Error(`the worker ended with ${code}: ${Buffer.concat(this.#output).toString()}`);
  }
}
