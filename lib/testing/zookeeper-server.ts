import { setTimeout as pause } from 'node:timers/promises';
import { askFourLetterWord } from './four-letter-word.js';
import { freeLoopbackPort } from './loopback-port.js';
import { ServerFiles } from './server-files.js';
import { ServerProcess } from './server-process.js';
import { zooKeeperConfig } from './zookeeper-config.js';
import type { ZooKeeperSettings } from './zookeeper-config.js';
import { findZooKeeperDistribution } from './zookeeper-distribution.js';
import type { ZooKeeperDistribution } from './zookeeper-distribution.js';

/** The options of a server. */
export interface ZooKeeperServerOptions {
  /** The client port. Default: a free one. */
  readonly port?: number | undefined;
  /** ZooKeeper's unit of time, in milliseconds. A session timeout is between 2 and 20 ticks. Default 500. */
  readonly tickTimeMs?: number | undefined;
  /** The server's directory, which `stop()` keeps. Default: a temporary directory, which `stop()` removes. */
  readonly dataDir?: string | undefined;
  /**
   * The interval at which empty container nodes are removed, in milliseconds. Default: that of ZooKeeper, one minute.
   */
  readonly containerCheckIntervalMs?: number | undefined;
  /** Further settings of `zoo.cfg`, as in `{ secureClientPort: 2281 }`. */
  readonly settings?: ZooKeeperSettings | undefined;
  /** Java system properties for everything else, as in `{ 'jute.maxbuffer': '4194304' }`. */
  readonly systemProperties?: Readonly<Record<string, string>> | undefined;
  /** The time limit of a start, in milliseconds. Default 60 000. */
  readonly startTimeoutMs?: number | undefined;
}

const PORT_ATTEMPTS = 3;

/** A real ZooKeeper server on 127.0.0.1, for tests and samples. It ends with the process that started it. */
export class ZooKeeperServer implements AsyncDisposable {
  /** The port for clients, on 127.0.0.1. */
  readonly port: number;
  readonly #distribution: ZooKeeperDistribution;
  readonly #files: ServerFiles;
  readonly #options: ZooKeeperServerOptions;
  #process: ServerProcess | undefined;

  private constructor(
    distribution: ZooKeeperDistribution,
    files: ServerFiles,
    options: ZooKeeperServerOptions & { readonly port: number },
  ) {
    this.port = options.port;
    this.#distribution = distribution;
    this.#files = files;
    this.#options = options;
  }

  /** Resolves when the server answers. @throws Error with the end of the server's log, or what to install */
  static async start(options: ZooKeeperServerOptions = {}): Promise<ZooKeeperServer> {
    const distribution = findZooKeeperDistribution();
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await freeLoopbackPort());
      const server = new ZooKeeperServer(distribution, new ServerFiles(options.dataDir), { ...options, port });
      try {
        await server.#launch();
        return server;
      } catch (error) {
        await server.stop();
        // Another process may have taken the port between finding it free and listening on it.
        const portWasTaken = /BindException|address already in use|port is already allocated/i.test(String(error));
        if (options.port !== undefined || !portWasTaken || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** The address for clients, as `host:port`. */
  get connectString(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The id of the server's process, or `undefined` while it does not run. With Docker, that of the Docker client. */
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

  /** Stops the server's clock and threads. Its connections remain open, and nothing answers. */
  async freeze(): Promise<void> {
    await this.#process?.freeze();
  }

  /** Ends `freeze()`. */
  async thaw(): Promise<void> {
    await this.#process?.signal('SIGCONT');
  }

  /** Stops the server if it runs, and starts it again with the same port and data. */
  async restart(): Promise<void> {
    await this.#process?.stop();
    await this.#launch();
  }

  /** Returns the server's answer to an admin word such as `srvr`, `dump` or `wchp`. */
  ask(fourLetterWord: string): Promise<string> {
    return askFourLetterWord(this.port, fourLetterWord);
  }

  /** Stops the server, like `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #launch(): Promise<void> {
    const { dir, isTemporary, logFile } = this.#files;
    const command = this.#distribution.command({ dir, port: this.port, systemProperties: this.#systemProperties() });
    this.#files.writeConfig(zooKeeperConfig(command, this.#options.tickTimeMs ?? 500, this.#options.settings));
    this.#process = new ServerProcess(command, { logFile, removeDir: isTemporary ? dir : undefined });
    await this.#ready(this.#process, command.dataDir);
  }

  async #ready(process: ServerProcess, dataDir: string): Promise<void> {
    const startedAt = performance.now();
    const limitMs = this.#options.startTimeoutMs ?? 60_000;
    while (!(await this.#serves(dataDir))) {
      if (process.hasExited) throw this.#startError('it ended');
      if (performance.now() - startedAt > limitMs) throw this.#startError(`no answer within ${limitMs} ms`);
      await pause(50);
    }
  }

  /** Whether a server answers that is ours: another server may have the port. */
  async #serves(dataDir: string): Promise<boolean> {
    const answers = await Promise.all(
      ['srvr', 'conf'].map((word) => askFourLetterWord(this.port, word, 1_000).catch(() => '')),
    );
    return answers.join().includes('Mode: ') && answers.join().includes(`dataDir=${dataDir}/`);
  }

  #startError(why: string): Error {
    const started = `ZooKeeper (${this.#distribution.name}) did not start on port ${this.port}`;
    return new Error(`${started}: ${why}\n${this.#files.logTail()}`);
  }

  #systemProperties(): Record<string, string> {
    const { containerCheckIntervalMs: checkMs, systemProperties = {} } = this.#options;
    const containers: Record<string, string> =
      checkMs === undefined ? {} : { 'znode.container.checkIntervalMs': String(checkMs) };
    return { ...containers, ...systemProperties };
  }
}
