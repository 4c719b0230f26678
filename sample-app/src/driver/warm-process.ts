import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WARM = fileURLToPath(new URL('../warm.js', import.meta.url));
const STOP_WITHIN_MS = 8_000;

export type Environment = Readonly<Record<string, string>>;

/** A process that loads the shop, and waits for the environment that tells it which instance it is. */
export class WarmProcess implements AsyncDisposable {
  readonly child: ChildProcess = fork(WARM, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  /** The reason of its end, once it has ended. */
  readonly ended = new Promise<string>((resolve) => {
    this.child.once('exit', (code, by) => resolve(by ?? String(code)));
    this.child.once('error', ({ message }) => resolve(message));
  });

  become(env: Environment): void {
    // If the process has already ended, `ended` reports it.
    this.child.send(env, () => {});
  }

  /** Asks the process to end, and makes sure that it does. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    const lastResort = setTimeout(() => this.child.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.ended;
    clearTimeout(lastResort);
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
