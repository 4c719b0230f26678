import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** The line of the sample that lists its instances. */
const INSTANCES = /instances: (.*)\n/;

/** `npm run sample -- --watch`, without building it again. It does not outlive the process that started it. */
export class RunningSample implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<readonly [code: number | null]>;
  #output = '';

  private constructor(args: readonly string[]) {
    const program = join(ROOT, 'sample-app/dist/run.js');
    this.#child = spawn(process.execPath, [program, '--watch', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#ended = once(this.#child, 'close') as Promise<[number | null]>;
    const kill = () => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    void this.#ended.finally(() => process.removeListener('exit', kill));
  }

  /** Resolves when all instances listen. @throws Error with its output when it ends before */
  static async start(...args: readonly string[]): Promise<RunningSample> {
    const sample = new RunningSample(args);
    await sample.#printed(INSTANCES);
    return sample;
  }

  /** The addresses of the instances. */
  get urls(): readonly string[] {
    const [, list = ''] = INSTANCES.exec(this.#output) ?? [];
    return [...list.matchAll(/http:\S+/g)].map(([url]) => url);
  }

  /** Ends it as Ctrl-C does. Resolves with the exit code, and with what it has printed. */
  async interrupt(): Promise<{ readonly code: number | null; readonly output: string }> {
    this.#child.kill('SIGINT');
    const [code] = await this.#ended;
    return { code, output: this.#output };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGINT');
    await this.#ended;
  }

  #printed(pattern: RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          this.#output += text;
          if (pattern.test(this.#output)) resolve();
        });
      }
      void this.#ended.then(([code]) => reject(new Error(`the sample ended with ${code}\n${this.#output}`)));
    });
  }
}
