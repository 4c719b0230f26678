import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program to its end and resolves with its output. @throws Error with all output when it fails */
export async function run(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, env: cleanEnv(), maxBuffer: 2 ** 26 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}: failed\n${stdout ?? ''}\n${stderr ?? String(error)}`);
  }
}

/** The environment without the variables that npm and vitest set: the started programs must not depend on them. */
function cleanEnv(): NodeJS.ProcessEnv {
  const foreign = /^(npm_(package|lifecycle)_|NODE_OPTIONS$|NODE_ENV$|VITEST|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
