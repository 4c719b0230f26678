import { fork, spawn } from 'node:child_process';
import type { ChildProcess, ForkOptions } from 'node:child_process';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { deferred } from '../../lib/async/deferred.js';
import { orTimeout } from '../../lib/async/timer.js';

/** The length of the output that is kept for error messages. */
const LAST_OUTPUT = 16_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last of what it printed. */
  readonly output: string;
}

export interface ForkSettings extends Pick<ForkOptions, 'env' | 'execArgv' | 'execPath' | 'serialization'> {
  readonly args?: readonly string[];
}

/** The messages of one program, in both directions. */
interface Channel {
  send(message: unknown): void;
  listen(heard: (message: unknown) => void, printed: (text: string) => void): void;
}

interface Listener<Said> {
  readonly heard: (said: Said) => void;
  readonly ended?: (error: Error) => void;
}

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Starts a compiled Node.js program that gets messages by `process.on('message')` and sends them by `process.send()`. */
export function forkProgram<Sent = unknown, Said = unknown>(
  script: string,
  { args = [], ...options }: ForkSettings = {},
): ChildProgram<Sent, Said> {
  const child = fork(script, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  return new ChildProgram(basename(script), child, messagesOf(child));
}

/** Starts a program in any language. Each message in either direction is one line of JSON. */
export function spawnProgram<Sent = unknown, Said = unknown>(
  name: string,
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = process.env,
): ChildProgram<Sent, Said> {
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  return new ChildProgram(name, child, linesOf(child));
}

/**
 * A program in its own process. It takes messages of type `Sent`, and sends those of type `Said`. Errors contain the
 * last of its output. It does not outlive the process that started it.
 */
export class ChildProgram<Sent = unknown, Said = unknown> implements AsyncDisposable {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #channel: Channel;
  readonly #listeners = new Set<Listener<Said>>();
  readonly #ended: Promise<Ended>;
  #output = '';
  #fault: Error | undefined;

  constructor(name: string, child: ChildProcess, channel: Channel) {
    this.name = name;
    this.#child = child;
    this.#channel = channel;
    running.add(child);
    const printed = (text: string) => void (this.#output = (this.#output + text).slice(-LAST_OUTPUT));
    channel.listen((said) => [...this.#listeners].forEach(({ heard }) => heard(said as Said)), printed);
    child.stderr?.setEncoding('utf8').on('data', printed);
    // A program that cannot be started, or a message to one that has ended. The end itself is the event `close`.
    child.on('error', ({ message }) => printed(`${message}\n`));
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(this.#end({ code, signal, output: this.#output })));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends a message. One to a program that has ended is lost. */
  send(message: Sent): void {
    this.#channel.send(message);
  }

  /** Calls `heard` with each message from now on. */
  listen(heard: (said: Said) => void): void {
    this.#listeners.add({ heard });
  }

  /** Resolves with the next message that is meant. @throws Error when the program ends or takes too long before */
  next(isMeant: (said: Said) => boolean = () => true, withinMs = Infinity, question?: Sent): Promise<Said> {
    if (this.#fault) return Promise.reject(this.#fault);
    const { promise, resolve, reject } = deferred<Said>();
    const listener = { heard: (said: Said) => void (isMeant(said) && resolve(said)), ended: reject };
    this.#listeners.add(listener);
    const awaited = () => (question === undefined ? 'message' : `answer to ${inspect(question)}`);
    const late = () => new Error(`${this.name}: no ${awaited()} within ${withinMs} ms\n${this.#output}`);
    return within(promise, withinMs, late).finally(() => this.#listeners.delete(listener));
  }

  /** Sends a message, and resolves with the next one that is meant. @throws Error as `next` does */
  ask(message: Sent, withinMs?: number, isMeant?: (said: Said) => boolean): Promise<Said> {
    const answer = this.next(isMeant, withinMs, message);
    if (!this.#fault) this.send(message);
    return answer;
  }

  /** Resolves when the program has ended. @throws Error when it still runs after `withinMs` */
  ended(withinMs = Infinity): Promise<Ended> {
    return within(this.#ended, withinMs, () => new Error(`${this.name} still runs\n${this.#output}`));
  }

  /** Resolves when the program has ended with exit code 0. @throws Error with its output otherwise */
  async succeeded(): Promise<void> {
    const { code } = await this.#ended;
    if (code !== 0) throw this.#fault;
  }

  /** Ends the input of a program that reads lines: it learns that no more messages will come. */
  endInput(): void {
    this.#child.stdin?.end();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Kills the program. Resolves when it has ended. */
  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  #end(ended: Ended): Ended {
    running.delete(this.#child);
    this.#fault = new Error(`${this.name} ended with ${ended.signal ?? ended.code}\n${ended.output}`);
    for (const { ended: reject } of this.#listeners) reject?.(this.#fault);
    return ended;
  }
}

/** Without a limit there is no timer, which would keep this process running. */
function within<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  return ms === Infinity ? promise : orTimeout(promise, ms, late);
}

function messagesOf(child: ChildProcess): Channel {
  return {
    send: (message) => void (child.connected && child.send(message as object, () => {})),
    listen: (heard, printed) => {
      child.stdout?.setEncoding('utf8').on('data', printed);
      child.on('message', heard);
    },
  };
}

function linesOf({ stdin, stdout }: ChildProcess): Channel {
  stdin!.on('error', () => {});
  return {
    send: (message) => void stdin!.write(`${JSON.stringify(message)}\n`),
    listen: (heard, printed) =>
      createInterface({ input: stdout! }).on('line', (line) => {
        const message = messageIn(line);
        // Libraries print, too.
        if (message === undefined) printed(`${line}\n`);
        else heard(message);
      }),
  };
}

function messageIn(line: string): object | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as object;
  } catch {
    return undefined;
  }
}
