import { spawnSync } from 'node:child_process';
import { createConnection } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { freeLoopbackPort } from './loopback-port.js';
import { ServerFiles } from './server-files.js';
import { ServerProcess } from './server-process.js';

/** The options of a server. */
export interface RedisServerOptions {
  /** The port. Default: a free one. */
  readonly port?: number | undefined;
  /** The server's directory, which `stop()` keeps. Default: a temporary directory, which `stop()` removes. */
  readonly dataDir?: string | undefined;
  /** Further settings of `redis.conf`, as in `{ appendonly: 'yes' }`. Default: nothing is saved. */
  readonly settings?: Readonly<Record<string, string | number>> | undefined;
  /** The time limit of a start, in milliseconds. Default 30 000. */
  readonly startTimeoutMs?: number | undefined;
}

const PROGRAM = 'redis-server';
const PORT_ATTEMPTS = 3;

/**
 * A real Redis server on 127.0.0.1, for tests and samples. It ends with the process that started it. Needs
 * `redis-server` on the path, for example from Debian's package of that name.
 */
export class RedisServer implements AsyncDisposable {
  /** The port, on 127.0.0.1. */
  readonly port: number;
  readonly #files: ServerFiles;
  readonly #options: RedisServerOptions;
  #process: ServerProcess | undefined;

  private constructor(port: number, files: ServerFiles, options: RedisServerOptions) {
    this.port = port;
    this.#files = files;
    this.#options = options;
  }

  /** Whether `redis-server` is installed on this machine. */
  static get isInstalled(): boolean {
    return spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0;
  }

  /** Resolves when the server answers. @throws Error with the end of the server's log, or what to install */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    if (!RedisServer.isInstalled) throw new Error('redis-server is not installed: apt-get install redis-server');
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freeLoopbackPort());
      const server = new RedisServer(port, new ServerFiles(options.dataDir, 'redis-'), options);
      try {
        await server.#launch();
        return server;
      } catch (error) {
        await server.stop();
        // Another process may have taken the port between finding it free and listening on it.
        const portWasTaken = /address already in use/i.test(String(error));
        if (options.port !== undefined || !portWasTaken || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** The address for `redis({ url })`. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** The id of the server's process, or `undefined` while it does not run. */
  get pid(): number | undefined {
    return this.#process?.hasExited ? undefined : this.#process?.pid;
  }

  /** Stops the server and removes its data, unless `dataDir` was given. */
  async stop(): Promise<void> {
    await this.#process?.stop();
    this.#files.removeIfTemporary();
  }

  /** Kills the server, as a crash would. Its data is kept for `restart()`. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** Stops the server's threads. Its connections remain open, and nothing answers. */
  async freeze(): Promise<void> {
    await this.#process?.freeze();
  }

  /** Ends `freeze()`. */
  async thaw(): Promise<void> {
    await this.#process?.signal('SIGCONT');
  }

  /** Stops the server if it runs, and starts it again with the same port and settings, and with what it has saved. */
  async restart(): Promise<void> {
    await this.#process?.stop();
    await this.#launch();
  }

  /** Returns the server's answer to a command without spaces in its words, as text of the wire protocol. */
  ask(...command: readonly string[]): Promise<string> {
    return askRedis(this.port, command);
  }

  /** Stops the server, like `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #launch(): Promise<void> {
    const { dir, isTemporary, logFile } = this.#files;
    const settings = {
      port: this.port,
      bind: '127.0.0.1',
      dir,
      save: '""',
      appendonly: 'no',
      ...this.#options.settings,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
    const argv = [PROGRAM, this.#files.write('redis.conf', lines.join(''))] as const;
    this.#process = new ServerProcess({ argv }, { logFile, removeDir: isTemporary ? dir : undefined });
    await this.#ready(this.#process);
  }

  async #ready(process: ServerProcess): Promise<void> {
    const startedAt = performance.now();
    const limitMs = this.#options.startTimeoutMs ?? 30_000;
    while (!(await this.#answers())) {
      if (process.hasExited) throw this.#startError('it ended');
      if (performance.now() - startedAt > limitMs) throw this.#startError(`no answer within ${limitMs} ms`);
      await pause(10);
    }
  }

  /** Whether the server answers, and is ours: another server may have the port. */
  async #answers(): Promise<boolean> {
    const info = await askRedis(this.port, ['INFO', 'server']).catch(() => '');
    const isOurs = info.includes(`process_id:${this.pid}\r`) || /^-(?:NOAUTH|NOPERM|WRONGPASS)/.test(info);
    return isOurs && !info.includes('loading:1');
  }

  #startError(why: string): Error {
    return new Error(`Redis did not start on port ${this.port}: ${why}\n${this.#files.logTail()}`);
  }
}

/** Sends one command on a connection of its own, and returns everything that the server answers. */
function askRedis(port: number, command: readonly string[]): Promise<string> {
  const words = [...command].map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  const request = `*${words.length}\r\n${words.join('')}*1\r\n$4\r\nQUIT\r\n`;
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = createConnection(port, '127.0.0.1', () => socket.write(request));
    socket.setTimeout(5_000, () => socket.destroy(new Error('Redis does not answer')));
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer.replace(/\+OK\r\n$/, '')));
  });
}
