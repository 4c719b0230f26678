import { spawn, spawnSync } from 'node:child_process';

export const ROOT = new URL('../../', import.meta.url);

/** The npm that runs this script, or the one on the PATH. */
const NPM = process.env.npm_execpath?.endsWith('npm-cli.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];

/** The time that a command in a group of its own has for its end after a signal. */
const PATIENCE_MS = 20_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a command with its output on ours; resolves with its exit code.
 * @param inOwnGroup signals reach this process alone, also Ctrl-C in a terminal. It passes them on to the command and to
 *   all that this has started, and ends by them when the command has ended.
 * @param signal kills the command, and all that it has started if it is in a group of its own
 */
export function run(title, argv, { cwd = ROOT, env = {}, inOwnGroup = false, signal } = {}) {
  console.log(`\n> ${title}`);
  const [program, ...args] = argv;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: 'inherit',
      detached: inOwnGroup,
    });
    if (inOwnGroup) passSignals(child);
    if (signal) killBy(signal, child, inOwnGroup);
    child.once('error', (error) => {
      console.error(error.message);
      resolve(127);
    });
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

function passSignals(child) {
  let passed;
  const pass = (signal) => {
    passed = signal;
    process.kill(-child.pid, signal);
    setTimeout(() => killGroup(child), PATIENCE_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  child.once('exit', () => {
    for (const signal of SIGNALS) process.off(signal, pass);
    if (!passed) return;
    killGroup(child);
    process.kill(process.pid, passed);
  });
}

/** Kills what is left of its group. */
function killGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function killBy(signal, child, inOwnGroup) {
  const kill = () => (inOwnGroup ? killGroup(child) : child.kill('SIGKILL'));
  if (signal.aborted) return kill();
  signal.addEventListener('abort', kill, { once: true });
  child.once('exit', () => signal.removeEventListener('abort', kill));
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
