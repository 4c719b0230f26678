import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const LONGEST_OUTPUT = 2 ** 26;
const SHOWN_LINES = 60;

/** Runs a program to its end; resolves with what it printed. @throws Error with the end of all that it printed */
export async function output(cwd, [program, ...args], env = {}) {
  try {
    const options = { cwd, env: { ...cleanEnv(), ...env }, maxBuffer: LONGEST_OUTPUT };
    return (await execute(program, args, options)).stdout;
  } catch (error) {
    const said = `${error.stdout ?? ''}\n${error.stderr ?? error.message}`.trim().split('\n').slice(-SHOWN_LINES);
    throw new Error(`${program} ${args.join(' ')} failed in ${cwd}:\n${said.join('\n')}`, { cause: error });
  }
}

/** Without what npm says to the programs that it starts. */
function cleanEnv() {
  const foreign = /^(npm_(package|lifecycle)_|NODE_OPTIONS$|NODE_ENV$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
