import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { EtcdServer } from '../../../lib/testing/index.js';
import { ForeignProcess } from '../../interop/support/foreign-process.js';
import { ROOT } from '../../support/repository-root.js';

const SOURCE = `${ROOT}/test/etcd/go/locks.go`;
const FOLDER = `${ROOT}/build/etcd-go`;
const PROGRAM = `${FOLDER}/locks`;
const STAMP = `${FOLDER}/source.txt`;
/** The sources of Go's packages, of Debian's package. */
const PACKAGES = '/usr/share/gocode';

/** Compiles the program that calls Go's locks, unless it is compiled. @throws Error that says what to install */
export async function compileGo(): Promise<void> {
  const source = readFileSync(SOURCE, 'utf8');
  if (source === stamped()) return;
  mkdirSync(FOLDER, { recursive: true });
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: `${FOLDER}:${PACKAGES}`, GOCACHE: `${FOLDER}/cache` };
  await promisify(execFile)('go', ['build', '-o', PROGRAM, SOURCE], { env }).catch((cause: NodeJS.ErrnoException) => {
    const install = 'apt-get install golang-go golang-etcd-server-dev';
    const isMissing = cause.code === 'ENOENT' || /cannot find package/.test(cause.message);
    throw new Error(isMissing ? `Go, or its client of etcd, is not there: ${install}` : cause.message, { cause });
  });
  writeFileSync(STAMP, source);
}

function stamped(): string | undefined {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}

/** One session of Go's `concurrency` package, and its locks and elections. */
export class GoSession {
  /** The id of its lease, in hexadecimal digits. */
  readonly lease: string;
  readonly #process: ForeignProcess;
  readonly #name: string;

  constructor(process: ForeignProcess, name: string, lease: string) {
    this.#process = process;
    this.#name = name;
    this.lease = lease;
  }

  /** Resolves with the create revision of the lock's key. */
  lock(prefix: string): Promise<number> {
    return this.#call('lock', { prefix });
  }

  unlock(prefix: string): Promise<void> {
    return this.#call('unlock', { prefix });
  }

  /** Whether a transaction on the condition that it holds the lock succeeds. */
  owns(prefix: string): Promise<boolean> {
    return this.#call('owns', { prefix });
  }

  /** Resolves when its own client says that the session is over. */
  done(): Promise<void> {
    return this.#call('done', {});
  }

  /**
   * Acquires and releases the lock, again and again. While it holds, it counts in a key of the server, in two steps.
   * Resolves with what it has counted, and with the create revision of each acquisition.
   */
  rounds(prefix: string, counter: string, rounds: number): Promise<readonly Round[]> {
    return this.#call('rounds', { prefix, value: counter, rounds });
  }

  /** Resolves when it leads. */
  campaign(prefix: string, value: string): Promise<void> {
    return this.#call('campaign', { prefix, value });
  }

  proclaim(prefix: string, value: string): Promise<void> {
    return this.#call('proclaim', { prefix, value });
  }

  resign(prefix: string): Promise<void> {
    return this.#call('resign', { prefix });
  }

  /** Resolves with all values that it has observed, when it has observed the last one. */
  observe(prefix: string, last: string): Promise<readonly string[]> {
    return this.#call('observe', { prefix, value: last });
  }

  #call<T>(verb: string, params: object): Promise<T> {
    return this.#process.call<T>(verb, { session: this.#name, ...params });
  }
}

/** One acquisition, and the number that was counted while it was held. */
export interface Round {
  readonly count: number;
  readonly revision: number;
}

/** Starts a Go program. Returns what opens sessions in it. It ends with the test. */
export function startGo(server: EtcdServer): (ttl?: number) => Promise<GoSession> {
  const process = new ForeignProcess('go locks', [PROGRAM, server.host]);
  onTestFinished(() => process.kill());
  let opened = 0;
  return async (ttl = 60) => {
    const session = `session ${++opened}`;
    return new GoSession(process, session, await process.call<string>('open', { session, ttl }));
  };
}
