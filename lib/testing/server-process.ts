import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { untilStopped } from './stopped-threads.js';
import type { ServerCommand } from './zookeeper-distribution.js';

const TERM_WITHIN_MS = 5_000;

// Waits for the end of its input, a pipe to this process. The pipe closes however this process ends; the guard then
// ends the server.
const GUARD_SCRIPT = 'dir=$1; shift; read -r _; "$@"; if [ -n "$dir" ]; then rm -rf "$dir"; fi';

/** The part of a command that a process needs. */
type ProcessCommand = Pick<ServerCommand, 'argv' | 'signalArgv'>;

export interface ServerProcessFiles {
  /** The file to which the server's output is appended. */
  readonly logFile: string;
  /** The directory to remove if this process ends before the server does. */
  readonly removeDir?: string | undefined;
}

/** One running server process. It does not outlive this process. */
export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #command: ProcessCommand;
  readonly #exited: Promise<void>;
  #hasExited = false;

  constructor(command: ProcessCommand, files: ServerProcessFiles) {
    this.#command = command;
    this.#child = spawnLogged(command, files.logFile);
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', resolve);
      this.#child.once('error', resolve);
    });
    void this.#exited.then(() => (this.#hasExited = true));
    if (this.pid !== undefined) this.#guard(this.pid, files.removeDir ?? '');
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Sends a signal, unless the server has exited. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    if (this.#hasExited) return;
    const argv = this.#command.signalArgv?.(signal);
    if (argv) await run(argv);
    else this.#child.kill(signal);
  }

  /** Sends SIGSTOP. Resolves when the process has stopped. */
  async freeze(): Promise<void> {
    await this.signal('SIGSTOP');
    if (this.pid !== undefined && !this.#command.signalArgv) await untilStopped(this.pid);
  }

  /** Sends SIGTERM, and SIGKILL when that takes too long. Resolves when the process has exited. */
  async stop(): Promise<void> {
    await this.signal('SIGCONT');
    await this.signal('SIGTERM');
    const lastResort = setTimeout(() => void this.signal('SIGKILL'), TERM_WITHIN_MS);
    await this.#gone();
    clearTimeout(lastResort);
  }

  /** Sends SIGKILL. Resolves when the process has exited. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL');
    await this.#gone();
  }

  async #gone(): Promise<void> {
    this.#child.ref();
    await this.#exited;
  }

  #guard(pid: number, removeDir: string): void {
    const end = this.#command.signalArgv?.('SIGKILL') ?? ['kill', '-KILL', String(pid)];
    // Detached: the Ctrl-C that ends this process must not end the guard before it has ended the server.
    const guard = spawn('sh', ['-c', GUARD_SCRIPT, 'guard', removeDir, ...end], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    letProcessEnd(guard);
    void this.#exited.then(() => guard.kill('SIGKILL'));
  }
}

function spawnLogged(command: ProcessCommand, logFile: string): ChildProcess {
  const log = openSync(logFile, 'a');
  const [program, ...args] = command.argv;
  const child = spawn(program, args, { stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();
  return child;
}

/** Unreferences the guard, so that a server that was never stopped does not keep this process running. */
function letProcessEnd(guard: ChildProcess): void {
  guard.unref();
  (guard.stdin as unknown as { unref(): void }).unref();
  guard.on('error', () => {});
}

function run([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: 'ignore' });
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}
