import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Compiles lib and the workers: a process of its own needs JavaScript, and never that of an older build. */
export default async function compileWorkers(): Promise<void> {
  await promisify(execFile)('npx', ['tsc', '-p', 'test/multi-process/tsconfig.json'], { cwd: root });
}
