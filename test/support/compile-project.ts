import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from './repository-root.js';

/** Compiles lib and a folder's programs: a process of its own needs JavaScript, and never that of an older build. */
export async function compileProject(folder: string): Promise<void> {
  await promisify(execFile)('npx', ['tsc', '-p', `${folder}/tsconfig.json`], { cwd: ROOT });
}
