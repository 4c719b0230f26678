import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from './places.js';

/** Compiles lib and the programs, because a separate process needs JavaScript, and never that of an older build. */
export default async function compilePrograms(): Promise<void> {
  await promisify(execFile)('npx', ['tsc', '-p', 'test/interop/tsconfig.json'], { cwd: ROOT });
}
