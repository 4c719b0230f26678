import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const LIMIT_MS = 40_000;

/** Compiles lib and the programs of this folder. Each spec has its own build, because specs run at the same time. */
export async function compilePrograms(spec: string): Promise<(program: string, orders: object) => ChildProgram> {
  const build = `build/driver/${spec}`;
  await promisify(execFile)('npx', ['tsc', '-p', 'test/integration/driver', '--outDir', build], { cwd: root });
  return (program, orders) =>
    new ChildProgram(`${root}/${build}/test/integration/driver/programs/${program}.program.js`, orders);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A program in its own process, where it may crash or hang. It is killed when the test has finished. */
export class ChildProgram {
  readonly #child: ChildProcess;
  readonly #said: unknown[] = [];
  readonly #ended: Promise<Ended>;
  #heard = () => {};

  constructor(script: string, orders: object) {
    this.#child = fork(script, [JSON.stringify(orders)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: ['--expose-gc'],
    });
    const output: Buffer[] = [];
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (bytes: Buffer) => output.push(bytes));
    }
    this.#child.on('message', (message) => {
      this.#said.push(message);
      this.#heard();
    });
    this.#ended = once(this.#child, 'close').then(([code, signal]) => {
      this.#heard();
      return { code, signal, output: Buffer.concat(output).toString() } as Ended;
    });
    onTestFinished(() => void this.#child.kill('SIGKILL'));
  }

  /** All messages of the program so far, in order. */
  get said(): readonly unknown[] {
    return this.#said;
  }

  /** Resolves when the program has sent `message`. @throws Error with its output when it ends before */
  async says(message: unknown): Promise<void> {
    let ended: Ended | undefined;
    void this.#ended.then((end) => (ended = end));
    while (!this.#said.includes(message)) {
      if (ended) throw new Error(`ended before it said ${String(message)}: ${JSON.stringify(ended)}`);
      await new Promise<void>((resolve) => (this.#heard = resolve));
    }
  }

  tell(message: string): void {
    this.#child.send(message);
  }

  /** Resolves with how the program ended by itself. @throws Error when it still runs after a long time */
  async ended(limitMs = LIMIT_MS): Promise<Ended> {
    const limit = new AbortController();
    const tooLate = once(AbortSignal.timeout(limitMs), 'abort', { signal: limit.signal }).then(() => {
      throw new Error(`still runs, having said ${JSON.stringify(this.#said)}`);
    });
    tooLate.catch(() => {});
    return Promise.race([this.#ended, tooLate]).finally(() => limit.abort());
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }
}
