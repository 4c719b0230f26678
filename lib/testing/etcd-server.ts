import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freeServerPorts } from './server-ports.js';
import { ServerFiles } from './server-files.js';
import { ServerProcess } from './server-process.js';

/** The options of an etcd server. */
export interface EtcdServerOptions {
  /** The port for clients. Default: a free one. */
  readonly port?: number | undefined;
  /** The server's directory, which `stop()` keeps. Default: a temporary directory, which `stop()` removes. */
  readonly dataDir?: string | undefined;
  /** Further flags of the server, as in `{ 'quota-backend-bytes': 16777216 }`. */
  readonly flags?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** The time limit of a start, in milliseconds. Default 30 000. */
  readonly startTimeoutMs?: number | undefined;
}

/** One member of a cluster, as the others know it. */
interface Member {
  readonly name: string;
  readonly port: number;
  readonly peerPort: number;
}

const PORT_ATTEMPTS = 3;
const CALL_MS = 15_000;

/** The program: the environment variable `ETCD_BIN` names another one than that on the path. */
const program = () => process.env['ETCD_BIN'] ?? 'etcd';

/**
 * A real etcd server on 127.0.0.1, for tests and samples. It ends with the process that started it. Needs `etcd` on the
 * path, for example from Debian's package `etcd-server`, or its path in the environment variable `ETCD_BIN`.
 */
export class EtcdServer implements AsyncDisposable {
  /** The port for clients, on 127.0.0.1. */
  readonly port: number;
  readonly #name: string;
  readonly #argv: readonly [string, ...string[]];
  readonly #files: ServerFiles;
  readonly #options: EtcdServerOptions;
  #process: ServerProcess | undefined;

  private constructor(member: Member, cluster: readonly Member[], options: EtcdServerOptions) {
    this.port = member.port;
    this.#name = member.name;
    this.#files = new ServerFiles(options.dataDir, 'etcd-');
    this.#options = options;
    this.#argv = argvOf(member, cluster, join(this.#files.dir, 'data'), options.flags);
  }

  /** Whether `etcd` is installed on this machine. */
  static get isInstalled(): boolean {
    return spawnSync(program(), ['--version'], { stdio: 'ignore' }).status === 0;
  }

  /** Resolves when the server serves. @throws Error with the end of the server's log, or the package to install */
  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const [server] = await EtcdServer.#startAll(1, options);
    return server as EtcdServer;
  }

  /** Resolves when the members of a cluster serve, and have a leader. @throws as `start` */
  static startCluster(members = 3, options: Omit<EtcdServerOptions, 'port' | 'dataDir'> = {}): Promise<EtcdServer[]> {
    return EtcdServer.#startAll(members, options);
  }

  static async #startAll(count: number, options: EtcdServerOptions): Promise<EtcdServer[]> {
    if (!EtcdServer.isInstalled) throw new Error('etcd is not installed: apt-get install etcd-server, or set ETCD_BIN');
    for (let attempt = 1; ; attempt++) {
      const ports = await freeServerPorts(2 * count);
      const cluster = Array.from({ length: count }, (_, place): Member => {
        const [port = 0, peerPort = 0] = ports.slice(2 * place, 2 * place + 2);
        return { name: `member${place}`, port: options.port ?? port, peerPort };
      });
      const servers = cluster.map((member) => new EtcdServer(member, cluster, options));
      try {
        for (const server of servers) server.#launch();
        await Promise.all(servers.map((server) => server.ready()));
        return servers;
      } catch (error) {
        await Promise.all(servers.map((server) => server.stop()));
        // Another process may have taken a port between finding it free and listening on it.
        const portWasTaken = /address already in use/i.test(String(error));
        if (options.port !== undefined || !portWasTaken || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** The address for `etcd({ hosts })`. */
  get host(): string {
    return `127.0.0.1:${this.port}`;
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

  /** Stops the server if it runs, and starts it again with the same ports and data. */
  async restart(): Promise<void> {
    await this.#process?.stop();
    this.#launch();
    await this.ready();
  }

  /** Returns the answer of the server's JSON gateway, as in `call('kv/range', { key })`. Bytes are in base64. */
  async call(path: string, request: object = {}): Promise<Record<string, unknown>> {
    const url = `http://${this.host}/v3/${path}`;
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`etcd answers ${path} with ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Whether the server leads its cluster, by its own word. */
  async leads(): Promise<boolean> {
    const { leader, header } = await this.call('maintenance/status');
    return leader === (header as { member_id?: unknown }).member_id;
  }

  /** Resolves when the server serves writes. */
  async ready(): Promise<void> {
    const startedAt = performance.now();
    const limitMs = this.#options.startTimeoutMs ?? 30_000;
    while (!(await this.#serves())) {
      if (this.#process?.hasExited) throw this.#startError('it ended');
      if (performance.now() - startedAt > limitMs) throw this.#startError(`no answer within ${limitMs} ms`);
      await pause(20);
    }
  }

  /** Stops the server, like `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #launch(): void {
    const { dir, isTemporary, logFile } = this.#files;
    this.#process = new ServerProcess({ argv: this.#argv }, { logFile, removeDir: isTemporary ? dir : undefined });
  }

  /** Whether the server answers, has a leader, and is ours: another server may have the port. */
  async #serves(): Promise<boolean> {
    try {
      const url = this.#options.flags?.['client-cert-auth'] || this.#options.flags?.['cert-file'] ? 'https' : 'http';
      if (url === 'https') return /serving client requests|ready to serve/i.test(this.#files.logTail());
      const response = await fetch(`http://${this.host}/health`, { signal: AbortSignal.timeout(2_000) });
      const { health } = (await response.json()) as { health?: string };
      return health === 'true' && !this.#process?.hasExited;
    } catch {
      return false;
    }
  }

  #startError(why: string): Error {
    return new Error(`${this.#name} of etcd did not start on port ${this.port}: ${why}\n${this.#files.logTail()}`);
  }
}

function argvOf(
  { name, port, peerPort }: Member,
  cluster: readonly Member[],
  dataDir: string,
  flags: EtcdServerOptions['flags'] = {},
): readonly [string, ...string[]] {
  const scheme = flags['cert-file'] === undefined ? 'http' : 'https';
  const client = `${scheme}://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const all = {
    name,
    'data-dir': dataDir,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': cluster.map((one) => `${one.name}=http://127.0.0.1:${one.peerPort}`).join(','),
    'initial-cluster-token': `test-${cluster.map((one) => one.peerPort).join('-')}`,
    ...flags,
  };
  return [program(), ...Object.entries(all).map(([flag, value]) => `--${flag}=${value}`)];
}
