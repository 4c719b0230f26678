import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LockReport } from '../locks/lock-report.js';
import type { Answer } from './answer.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 8_000;
// An instance that is told to end waits until its clients have hung up.
const HEADERS = { 'content-type': 'application/json', connection: 'close' };

export interface InstanceListener {
  onReport(instance: string, report: LockReport): void;
  onOutput(instance: string, line: string): void;
}

/** One instance of the shop: a process of its own, spoken to by HTTP. */
export class Instance {
  private isStopping = false;

  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    private readonly url: string,
    private readonly interruption: Promise<never>,
  ) {}

  static async start(
    name: string,
    env: Readonly<Record<string, string>>,
    listener: InstanceListener,
    signal: AbortSignal,
  ): Promise<Instance> {
    const child = fork(MAIN, {
      env: { ...process.env, ...env, INSTANCE: name, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const output of [child.stdout!, child.stderr!]) {
      createInterface(output).on('line', (line) => signal.aborted || listener.onOutput(name, line));
    }
    const interruption = interruptionBy(signal);
    try {
      const instance = new Instance(
        name,
        child,
        await Promise.race([readyUrl(name, child), interruption]),
        interruption,
      );
      child.on('message', (report: LockReport) => listener.onReport(name, report));
      child.once('exit', (code, by) => instance.isStopping || listener.onOutput(name, `has ended (${by ?? code})`));
      return instance;
    } catch (error) {
      await end(child);
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  put(path: string, body: object = {}): Promise<Answer> {
    return this.send('PUT', path, body);
  }

  post(path: string, body: object = {}): Promise<Answer> {
    return this.send('POST', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  /** Asks it to end, and sees to it that it does. */
  stop(): Promise<void> {
    this.isStopping = true;
    return end(this.child);
  }

  /** Ends it without letting it do anything more. */
  async kill(): Promise<void> {
    this.isStopping = true;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }

  private send(method: string, path: string, body?: object): Promise<Answer> {
    return Promise.race([request(method, this.url + path, body), this.interruption]);
  }
}

async function request(method: string, url: string, body: object | undefined): Promise<Answer> {
  const startedAt = performance.now();
  const waitMs = () => performance.now() - startedAt;
  try {
    const response = await fetch(url, { method, headers: HEADERS, body: body && JSON.stringify(body) });
    const text = await response.text();
    return { status: response.status, body: text && JSON.parse(text), waitMs: waitMs() };
  } catch {
    return { status: 0, body: undefined, waitMs: waitMs() };
  }
}

/** Where the instance listens, once it does. */
function readyUrl(name: string, child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`instance ${name} took too long to start`)), START_WITHIN_MS).unref();
    child.once('exit', () => reject(new Error(`instance ${name} ended while it was starting`)));
    child.once('error', reject);
    child.once('message', (report: LockReport) => report.kind === 'ready' && resolve(report.url));
  });
}

function interruptionBy(signal: AbortSignal): Promise<never> {
  const interruption = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // Whoever waits when it comes is told; there may be nobody.
  interruption.catch(() => {});
  return interruption;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const lastResort = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await gone;
  clearTimeout(lastResort);
}
