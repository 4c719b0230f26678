import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/repository-root.js';

/** The directory for all output of a run. */
const OUTPUT = join(ROOT, 'build', 'robustness');

/** The library and these tests as JavaScript. */
export const COMPILED = join(OUTPUT, 'js');

/** The script of a worker process. It is JavaScript, also when the conductor itself runs from its source. */
export const WORKER_SCRIPT = join(COMPILED, 'test', 'robustness', 'traffic', 'worker.js');

/** Creates a directory for the journals of one run. */
export function makeRunDirectory(): string {
  const runs = join(OUTPUT, 'runs');
  mkdirSync(runs, { recursive: true });
  return mkdtempSync(join(runs, 'run-'));
}

export function historyFile(scenario: string, seed: number): string {
  return join(OUTPUT, `history-${scenario}-${seed}.json`);
}
