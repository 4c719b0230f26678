import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/repository-root.js';

/** The line of the sample that lists its instances. */
const INSTANCES = /instances: (.*)\n/;
/** The line behind it, with the command that lists the locks of the sample. */
const COMMAND = /by command: (?:REDIS_URL=(?<url>\S+) )?npx nestjs-distributed-lock list (?<options>.*)\n/;

const CLI = join(ROOT, 'dist/command/nestjs-distributed-lock.js');

/** `npm run sample -- --watch`, without building it again. It does not outlive the process that started it. */
export class RunningSample implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<readonly [code: number | null]>;
  readonly #grown = new EventEmitter();
  #output = '';
  #hasEnded = false;

  private constructor(args: readonly string[]) {
    const program = join(ROOT, 'sample-app/dist/run.js');
    const env = { ...process.env, NO_COLOR: '1' };
    this.#child = spawn(process.execPath, [program, '--watch', ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
    this.#ended = once(this.#child, 'close') as Promise<[number | null]>;
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text;
        this.#grown.emit('data');
      });
    }
    const kill = () => void this.#child.kill('SIGKILL');
    process.once('exit', kill);
    void this.#ended.finally(() => {
      this.#hasEnded = true;
      process.removeListener('exit', kill);
    });
  }

  /** Resolves when all instances listen. @throws Error with its output when it ends before */
  static async start(...args: readonly string[]): Promise<RunningSample> {
    const sample = new RunningSample(args);
    await sample.printed(COMMAND);
    return sample;
  }

  /** The addresses of the instances. */
  get urls(): readonly string[] {
    const [, list = ''] = INSTANCES.exec(this.#output) ?? [];
    return [...list.matchAll(/http:\S+/g)].map(([url]) => url);
  }

  /**
   * Runs a command of the package on its locks, with the options that it has printed, and returns what that writes.
   * @throws Error with what it has complained of, when it fails
   */
  async command(...words: readonly string[]): Promise<unknown> {
    const { url, options = '' } = COMMAND.exec(this.#output)?.groups ?? {};
    const args = [CLI, ...words, ...options.split(' '), '--json', '--timeout', '60s', '--within', '30s'];
    const env = url === undefined ? process.env : { ...process.env, REDIS_URL: url };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return JSON.parse(stdout);
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

  /** Resolves when its output matches. @throws Error with its output when it ends before */
  async printed(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.#output)) {
      const [code] = (await Promise.race([once(this.#grown, 'data'), this.#ended])) as [unknown];
      if (this.#hasEnded) throw new Error(`the sample ended with ${String(code)}\n${this.#output}`);
    }
  }
}
