import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { forkProgram } from '../../../support/child-program.js';
import type { ChildProgram, Ended } from '../../../support/child-program.js';
import { ROOT } from '../../../support/repository-root.js';

const LIMIT_MS = 40_000;

/** Compiles lib and the programs of this folder. Each spec has its own build, because specs run at the same time. */
export async function compilePrograms(spec: string): Promise<(program: string, orders: object) => DriverProgram> {
  const build = join('build', 'driver', spec);
  await promisify(execFile)('npx', ['tsc', '-p', 'test/integration/driver', '--outDir', build], { cwd: ROOT });
  const programs = join(ROOT, build, 'test', 'integration', 'driver', 'programs');
  return (program, orders) => new DriverProgram(join(programs, `${program}.program.js`), orders);
}

/** A program of which all messages are kept, because it may crash or hang. It is killed when the test has finished. */
export class DriverProgram {
  readonly #program: ChildProgram<string>;
  readonly #said: unknown[] = [];

  constructor(script: string, orders: object) {
    this.#program = forkProgram(script, { args: [JSON.stringify(orders)], execArgv: ['--expose-gc'] });
    this.#program.listen((message) => this.#said.push(message));
    onTestFinished(() => this.#program.kill());
  }

  /** All messages of the program so far, in order. */
  get said(): readonly unknown[] {
    return this.#said;
  }

  /** Resolves when the program has sent `message`. @throws Error with its output when it ends before */
  async says(message: unknown): Promise<void> {
    if (!this.#said.includes(message)) await this.#program.next((said) => said === message);
  }

  tell(message: string): void {
    this.#program.send(message);
  }

  /** Resolves with how the program ended by itself. @throws Error when it still runs after a long time */
  ended(limitMs = LIMIT_MS): Promise<Ended> {
    return this.#program.ended(limitMs);
  }

  get isRunning(): boolean {
    return this.#program.isRunning;
  }
}
