import { createInterface } from 'node:readline';
import type { LockReport } from '../locks/lock-report.js';
import type { Answer } from './answer.js';
import { WarmProcess } from './warm-process.js';
import type { Environment } from './warm-process.js';

const START_WITHIN_MS = 60_000;

export interface InstanceListener {
  onReport(instance: string, report: LockReport): void;
  onOutput(instance: string, line: string): void;
}

/** One instance of the shop: a process that is controlled by HTTP. */
export class Instance {
  private isStopping = false;

  private constructor(
    readonly name: string,
    private readonly process: WarmProcess,
    /** The address of the instance. */
    readonly url: string,
    private readonly headers: Headers,
    private readonly interruption: Promise<never>,
  ) {}

  /** Starts the instance in a new process, or in one that is already warm. */
  static async start(
    name: string,
    env: Environment,
    listener: InstanceListener,
    signal: AbortSignal,
    process = new WarmProcess(),
  ): Promise<Instance> {
    const { child, ended } = process;
    for (const output of [child.stdout!, child.stderr!]) {
      createInterface(output).on('line', (line) => signal.aborted || listener.onOutput(name, line));
    }
    const interruption = interruptionBy(signal);
    try {
      const url = readyUrl(name, process);
      process.become({ ...env, INSTANCE: name, PORT: '0' });
      const headers = requestHeaders();
      const instance = new Instance(name, process, await Promise.race([url, interruption]), headers, interruption);
      child.on('message', (report: LockReport) => listener.onReport(name, report));
      void ended.then((how) => instance.isStopping || listener.onOutput(name, `has ended (${how})`));
      return instance;
    } catch (error) {
      await process.stop();
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.process.child.pid;
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

  /** Revokes a key as the page of locks does, for holders that have hung. */
  async revoke(key: string, graceMs: number): Promise<boolean> {
    const headers = { 'content-type': 'application/json', 'x-locks-page': '1', origin: this.url, connection: 'close' };
    const body = JSON.stringify({ id: key, graceMs });
    const answer = await answerTo(`${this.url}/locks/api/actions/revoke`, {
      method: 'POST',
      headers: new Headers(headers),
      body,
    });
    return answer.status === 202;
  }

  /** Asks the process to end, and makes sure that it does. */
  stop(): Promise<void> {
    this.isStopping = true;
    return this.process.stop();
  }

  /** Kills the process. */
  kill(): Promise<void> {
    this.isStopping = true;
    return this.process.kill();
  }

  private send(method: string, path: string, body?: object): Promise<Answer> {
    const request = { method, headers: this.headers, body: body && JSON.stringify(body) };
    const answer = Promise.race([answerTo(this.url + path, request), this.interruption]);
    // An interrupted scene may end at another request, and no longer await this one.
    answer.catch(() => {});
    return answer;
  }
}

/** Created while the instance still starts: Node loads `fetch` only on its first use, and this is the first one. */
function requestHeaders(): Headers {
  // An instance that is asked to end waits until its clients have closed their connections.
  return new Headers({ 'content-type': 'application/json', connection: 'close' });
}

async function answerTo(url: string, request: RequestInit): Promise<Answer> {
  const startedAt = performance.now();
  const waitMs = () => performance.now() - startedAt;
  try {
    const response = await fetch(url, request);
    const text = await response.text();
    return { status: response.status, body: text && JSON.parse(text), waitMs: waitMs() };
  } catch {
    return { status: 0, body: undefined, waitMs: waitMs() };
  }
}

/** Resolves with the instance's address as soon as it listens. */
function readyUrl(name: string, { child, ended }: WarmProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`instance ${name} took too long to start`)), START_WITHIN_MS).unref();
    void ended.then((how) => reject(new Error(`instance ${name} ended while it was starting (${how})`)));
    child.once('message', (report: LockReport) => report.kind === 'ready' && resolve(report.url));
  });
}

function interruptionBy(signal: AbortSignal): Promise<never> {
  const interruption = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  // A failure is reported to the waiting callers; there may be none.
  interruption.catch(() => {});
  return interruption;
}
