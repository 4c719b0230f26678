import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { forkProgram } from '../support/child-program.js';
import type { ChildProgram } from '../support/child-program.js';
import { ROOT } from '../support/repository-root.js';

const WORKERS = join(ROOT, 'build', 'multi-process', 'test', 'multi-process', 'workers');

export type Worker = ChildProgram<object, Record<string, unknown>>;

/** Starts a process that runs `workers/<name>.worker.ts`. It is killed when the test has finished. */
export function startWorker(name: string, orders: object): Worker {
  const worker: Worker = forkProgram(join(WORKERS, `${name}.worker.js`), { args: [JSON.stringify(orders)] });
  onTestFinished(() => worker.kill());
  return worker;
}
