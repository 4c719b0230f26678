import { spawn, spawnSync } from 'node:child_process';

export const ROOT = new URL('../../', import.meta.url);

/** The npm that runs this script, or the one on the PATH. */
const NPM = process.env.npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];

/** Runs a command with its output on ours; resolves with its exit code. */
export function run(title, argv, { cwd = ROOT, env = {} } = {}) {
  console.log(`\n> ${title}`);
  const [program, ...args] = argv;
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' });
    child.once('error', (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** @throws Error when it fails */
export async function must(title, argv, options) {
  const code = await run(title, argv, options);
  if (code !== 0) throw new Error(`${title}: exit code ${code}`);
}

export const npm = (...args) => [...NPM, ...args];

export const npmScript = (name) => npm('run', '--silent', name);

/** Whether a command is there and ends well. */
export function works(...argv) {
  const [program, ...args] = argv;
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
