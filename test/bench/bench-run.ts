import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from '../../bench/report/results-file.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One run of `npm run bench` and the files that it left behind. */
export class BenchRun implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'bench-run-'));
  exitCode: number | null = null;
  output = '';

  static async of(...args: string[]): Promise<BenchRun> {
    const run = new BenchRun();
    await run.#perform([...args, '--results', run.#results, '--charts', run.#charts]);
    return run;
  }

  /** The report. @throws Error with the output when there is none */
  get report(): Report {
    if (!existsSync(this.#results)) throw new Error(`the bench has left no report\n${this.output}`);
    return JSON.parse(readFileSync(this.#results, 'utf8')) as Report;
  }

  /** The charts and tables by file name. */
  get drawn(): ReadonlyMap<string, string> {
    return new Map(readdirSync(this.#charts).map((name) => [name, readFileSync(join(this.#charts, name), 'utf8')]));
  }

  [Symbol.dispose](): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }

  get #results(): string {
    return join(this.#dir, 'results.json');
  }

  get #charts(): string {
    return join(this.#dir, 'charts');
  }

  #perform(args: readonly string[]): Promise<void> {
    const child = spawn(process.execPath, ['scripts/bench.mjs', ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (this.output += String(text)));
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => {
        this.exitCode = code;
        resolve();
      });
    });
  }
}
