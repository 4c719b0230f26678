import { setTimeout as pause } from 'node:timers/promises';
import { askFourLetterWord } from './four-letter-word.js';
import type { PeerPorts } from './ensemble-network.js';
import { ServerFiles } from './server-files.js';
import { ServerProcess } from './server-process.js';
import { zooKeeperConfig } from './zookeeper-config.js';
import type { ZooKeeperSettings } from './zookeeper-config.js';
import type { ZooKeeperDistribution } from './zookeeper-distribution.js';

/** The role that a server reports. */
export type ServerMode = 'leader' | 'follower';

export interface EnsembleServerPlan {
  readonly distribution: ZooKeeperDistribution;
  /** The port for clients. */
  readonly port: number;
  /** The server's number in the ensemble, from 1 on. */
  readonly id: number;
  /** The ensemble from this server's view, by server number: its own ports, and the ports that lead to its peers. */
  readonly view: ReadonlyMap<number, PeerPorts>;
  readonly tickTimeMs: number;
  readonly initLimit: number;
  readonly syncLimit: number;
  readonly systemProperties: Readonly<Record<string, string>>;
}

const ASK_MODE_MS = 1_000;

/** One server of an ensemble. */
export class EnsembleServer {
  readonly #plan: EnsembleServerPlan;
  readonly #startTimeoutMs: number;
  readonly #files = new ServerFiles(undefined);
  #process: ServerProcess | undefined;
  #isFrozen = false;

  /** @internal */
  constructor(plan: EnsembleServerPlan, startTimeoutMs: number) {
    this.#plan = plan;
    this.#startTimeoutMs = startTimeoutMs;
  }

  /** The server's number in the ensemble, from 1 on. */
  get id(): number {
    return this.#plan.id;
  }

  /** The port for clients. */
  get port(): number {
    return this.#plan.port;
  }

  /** The address for clients, as `host:port`. */
  get connectString(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The id of the server's process, or `undefined` while it does not run. */
  get pid(): number | undefined {
    return this.#process?.hasExited ? undefined : this.#process?.pid;
  }

  /** Kills the server, as a crash would. Its data is kept for `restart()`. */
  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#isFrozen = false;
  }

  /** Stops the server's clock and threads. Its connections remain open, and nothing answers. */
  async freeze(): Promise<void> {
    this.#isFrozen = true;
    await this.#process?.freeze();
  }

  /** Ends `freeze()`. */
  async thaw(): Promise<void> {
    await this.#process?.signal('SIGCONT');
    this.#isFrozen = false;
  }

  /**
   * Stops the server if it runs, and starts it again with the same ports and data. Resolves when it listens. It serves
   * clients as soon as it has found a quorum of its peers.
   */
  async restart(): Promise<void> {
    await this.#stop();
    await this.start();
  }

  /** Returns the server's answer to an admin word such as `srvr`, `mntr` or `cons`. */
  ask(fourLetterWord: string): Promise<string> {
    return askFourLetterWord(this.port, fourLetterWord);
  }

  /**
   * Returns the role that the server considers itself to have. `undefined` while it serves no clients, is down or is
   * frozen. A server that was cut off notices so only after its timeout.
   */
  async mode(): Promise<ServerMode | undefined> {
    return (await this.status())?.mode;
  }

  /** Whether the server considers itself the leader. */
  async isLeader(): Promise<boolean> {
    return (await this.mode()) === 'leader';
  }

  /** @internal the server's role, and the epoch of its last leader */
  async status(): Promise<{ readonly mode: ServerMode; readonly epoch: bigint } | undefined> {
    if (this.pid === undefined || this.#isFrozen) return undefined;
    const answer = await askFourLetterWord(this.port, 'srvr', ASK_MODE_MS).catch(() => '');
    const [, mode] = /^Mode: (leader|follower)$/m.exec(answer) ?? [];
    const [, zxid = '0'] = /^Zxid: (0x[0-9a-f]+)$/m.exec(answer) ?? [];
    return mode === undefined ? undefined : { mode: mode as ServerMode, epoch: BigInt(zxid) >> 32n };
  }

  /** @internal */
  async start(): Promise<void> {
    const { dir, logFile } = this.#files;
    const { distribution, port, tickTimeMs, systemProperties, id } = this.#plan;
    const command = distribution.command({ dir, port, systemProperties });
    if (command.signalArgv)
      throw new Error(`an ensemble needs a ZooKeeper that is installed, not ${distribution.name}`);
    this.#files.write('zoo.cfg', zooKeeperConfig(command, tickTimeMs, this.#settings()));
    this.#files.write('data/myid', String(id));
    this.#process = new ServerProcess(command, { logFile, removeDir: dir });
    await this.#listening(this.#process);
  }

  /** @internal stops the server and removes its data */
  async dispose(): Promise<void> {
    await this.#stop();
    this.#files.removeIfTemporary();
  }

  /** @internal */
  startError(why: string): Error {
    const started = `server ${this.id} of a ZooKeeper ensemble (${this.#plan.distribution.name}) did not start`;
    return new Error(`${started}: ${why}\n${this.#files.logTail()}`);
  }

  async #stop(): Promise<void> {
    await this.#process?.stop();
    this.#isFrozen = false;
  }

  async #listening(process: ServerProcess): Promise<void> {
    const startedAt = performance.now();
    const limitMs = this.#startTimeoutMs;
    while ((await askFourLetterWord(this.port, 'ruok', ASK_MODE_MS).catch(() => '')) !== 'imok') {
      if (process.hasExited) throw this.startError('it ended');
      if (performance.now() - startedAt > limitMs) throw this.startError(`no answer within ${limitMs} ms`);
      await pause(20);
    }
  }

  #settings(): ZooKeeperSettings {
    const { initLimit, syncLimit, view } = this.#plan;
    const servers = [...view].map(([id, { quorum, election }]) => [`server.${id}`, `127.0.0.1:${quorum}:${election}`]);
    return { initLimit, syncLimit, ...Object.fromEntries(servers) };
  }
}
