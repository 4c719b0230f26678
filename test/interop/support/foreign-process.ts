import { spawnProgram } from '../../support/child-program.js';
import type { ChildProgram } from '../../support/child-program.js';

const ANSWERS_WITHIN_MS = 60_000;

/** The options of a command. */
export interface CallOptions {
  /** Calls of one thread are executed one after another. The locks of some clients belong to the thread. */
  readonly thread?: string;
  readonly withinMs?: number;
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** A program in any language that reads one JSON command per line, and answers each with one line that has its id. */
export class ForeignProcess implements AsyncDisposable {
  readonly #program: ChildProgram<object, Answer>;
  #lastId = 0;

  constructor(name: string, argv: readonly [string, ...string[]]) {
    this.#program = spawnProgram(name, argv);
  }

  get pid(): number | undefined {
    return this.#program.pid;
  }

  /** Executes a command. @throws Error with the program's output when it fails, ends or takes too long */
  async call<T = unknown>(verb: string, params: object = {}, options: CallOptions = {}): Promise<T> {
    const { thread = 'main', withinMs = ANSWERS_WITHIN_MS } = options;
    const id = ++this.#lastId;
    const answer = await this.#program.ask({ id, verb, thread, params }, withinMs, (said) => said.id === id);
    if (answer.error !== undefined) throw new Error(`${this.#program.name}: ${answer.error}`);
    return answer.value as T;
  }

  /** Sends a signal, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  /** Kills the program. Its session remains until the servers expire it. */
  kill(): Promise<void> {
    return this.#program.kill();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
