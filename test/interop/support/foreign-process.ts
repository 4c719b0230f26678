import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { deferred } from '../../../lib/async/deferred.js';
import type { Deferred } from '../../../lib/async/deferred.js';
import { orTimeout } from '../../../lib/async/timer.js';

const LAST_WORDS = 4_000;
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
  readonly #child: ChildProcess;
  readonly #name: string;
  readonly #ended: Promise<void>;
  readonly #pending = new Map<number, Deferred<unknown>>();
  #lastId = 0;
  #fault: Error | undefined;
  #errors = '';

  constructor(name: string, argv: readonly [string, ...string[]]) {
    this.#name = name;
    const [program, ...args] = argv;
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#heard(line));
    this.#child.stderr!.on('data', (text) => (this.#errors = (this.#errors + String(text)).slice(-LAST_WORDS)));
    this.#child.stdin!.on('error', () => {});
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#fail(error.message, resolve));
      this.#child.once('close', (code, signal) => this.#fail(`ended with ${signal ?? code}`, resolve));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Executes a command. @throws Error with the program's output when it fails, ends or takes too long */
  async call<T = unknown>(verb: string, params: object = {}, options: CallOptions = {}): Promise<T> {
    if (this.#fault) throw this.#fault;
    const { thread = 'main', withinMs = ANSWERS_WITHIN_MS } = options;
    const id = ++this.#lastId;
    const answer = deferred<unknown>();
    this.#pending.set(id, answer);
    this.#child.stdin!.write(`${JSON.stringify({ id, verb, thread, params })}\n`);
    const late = () => new Error(`${this.#name}: no answer to "${verb}" within ${withinMs} ms\n${this.#errors}`);
    return (await orTimeout(answer.promise, withinMs, late).finally(() => this.#pending.delete(id))) as T;
  }

  /** Sends a signal, such as SIGSTOP. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Kills the program. Its session remains until the servers expire it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #heard(line: string): void {
    const answer = this.#answerIn(line);
    // Libraries print, too.
    if (!answer) return void (this.#errors = `${this.#errors}${line}\n`.slice(-LAST_WORDS));
    const asked = this.#pending.get(answer.id);
    if (answer.error === undefined) asked?.resolve(answer.value);
    else asked?.reject(new Error(`${this.#name}: ${answer.error}`));
  }

  #answerIn(line: string): Answer | undefined {
    if (!line.startsWith('{"id"')) return undefined;
    return JSON.parse(line) as Answer;
  }

  #fail(why: string, resolve: () => void): void {
    this.#fault ??= new Error(`${this.#name} ${why}\n${this.#errors}`);
    for (const asked of this.#pending.values()) asked.reject(this.#fault);
    resolve();
  }
}
