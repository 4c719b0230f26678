import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SERVER_PROGRAM } from '../places.js';
import { PATIENCE_MS } from './tested-server.js';
import type { ServerSettings, TestedServer } from './tested-server.js';

/** A message of the process about itself. */
export interface Report {
  readonly port?: number;
  /** The memory in use, in bytes. */
  readonly memory?: number;
}

/** An embedded server in a separate process: if it crashes or hangs, no other process is affected. */
export class EmbeddedProcess implements TestedServer {
  readonly name = 'embedded, in a process of its own';
  readonly port: number;
  readonly patienceMs: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number, patienceMs: number) {
    this.#child = child;
    this.port = port;
    this.patienceMs = patienceMs;
  }

  /** @param lib the compiled library that contains the server */
  static async start(lib: string, settings: ServerSettings = {}, patienceMs = PATIENCE_MS): Promise<EmbeddedProcess> {
    const child = fork(SERVER_PROGRAM, [lib, JSON.stringify(settings)], { execArgv: ['--expose-gc'], stdio: 'pipe' });
    let complaints = '';
    child.stderr?.on('data', (chunk) => (complaints += String(chunk)));
    const ended = once(child, 'exit').then(() => {
      throw new Error(`the embedded server ended: ${complaints}`);
    });
    const [{ port }] = (await Promise.race([once(child, 'message'), ended])) as [Report];
    // From here on, the process may end.
    ended.catch(() => {});
    return new EmbeddedProcess(child, port ?? 0, patienceMs);
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Returns the memory in use after garbage collection, in bytes. */
  async memory(): Promise<number> {
    this.#child.send('memory');
    const [{ memory = 0 }] = (await once(this.#child, 'message')) as [Report];
    return memory;
  }

  /** Whether it still runs, and processes further messages. */
  async isUp(): Promise<boolean> {
    if (this.hasEnded) return false;
    const answered = once(this.#child, 'message').then(() => true);
    const ended = once(this.#child, 'exit').then(() => false);
    this.#child.send('memory', () => {});
    return Promise.race([answered, ended, pause(this.patienceMs, false, { ref: false })]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.hasEnded) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
