import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const WARM = fileURLToPath(new URL('../warm.js', import.meta.url));
const STOP_WITHIN_MS = 8_000;

export type Environment = Readonly<Record<string, string>>;

/** A process that loads the shop, and waits to be told which instance of it it is. */
export class WarmProcess implements AsyncDisposable {
  readonly child: ChildProcess = fork(WARM, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  /** How it has ended, once it has. */
  readonly ended = new Promise<string>((resolve) => {
    this.child.once('exit', (code, by) => resolve(by ?? String(code)));
    this.child.once('error', ({ message }) => resolve(message));
  });

  become(env: Environment): void {
    // Of one that has ended, `ended` tells.
    this.child.send(env, () => {});
  }

  /** Asks it to end, and sees to it that it does. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    const lastResort = setTimeout(() => this.child.kill('SIGKILL'), STOP_WITHIN_MS);
    await this.ended;
    clearTimeout(lastResort);
  }

  /** Ends it without letting it do anything more. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
