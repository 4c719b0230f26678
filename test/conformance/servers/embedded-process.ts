import { forkProgram } from '../../support/child-program.js';
import type { ChildProgram } from '../../support/child-program.js';
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
  readonly #program: ChildProgram<string, Report>;

  private constructor(program: ChildProgram<string, Report>, port: number, patienceMs: number) {
    this.#program = program;
    this.port = port;
    this.patienceMs = patienceMs;
  }

  /** @param lib the compiled library that contains the server */
  static async start(lib: string, settings: ServerSettings = {}, patienceMs = PATIENCE_MS): Promise<EmbeddedProcess> {
    const options = { args: [lib, JSON.stringify(settings)], execArgv: ['--expose-gc'] };
    const program = forkProgram<string, Report>(SERVER_PROGRAM, options);
    const { port = 0 } = await program.next();
    return new EmbeddedProcess(program, port, patienceMs);
  }

  get hasEnded(): boolean {
    return !this.#program.isRunning;
  }

  /** Returns the memory in use after garbage collection, in bytes. */
  async memory(): Promise<number> {
    const { memory = 0 } = await this.#program.ask('memory');
    return memory;
  }

  /** Whether it still runs, and processes further messages. */
  isUp(): Promise<boolean> {
    return this.#program.ask('memory', this.patienceMs).then(
      () => true,
      () => false,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program.kill();
  }
}
