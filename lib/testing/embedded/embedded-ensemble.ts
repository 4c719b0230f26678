import { check } from '../../contract/check.js';
import type { Database } from './database/database.js';
import { resolveEmbeddedOptions } from './embedded.options.js';
import type { EmbeddedZooKeeperOptions } from './embedded.options.js';
import { EnsembleMember } from './ensemble-member.js';
import { databaseOf, serverOf } from './make-server.js';
import { Reaper } from './requests/reaper.js';
import type { EmbeddedServer } from './server/embedded-server.js';
import { quiet } from './server/quiet.js';
import { advance } from './sessions/manual-clock.js';

/** Every server has a port of its own, and it is one that is free. */
export type EmbeddedEnsembleOptions = Omit<EmbeddedZooKeeperOptions, 'port'>;

/**
 * Several ports on one tree, in this process: enough to see clients change servers, lose all of them, and read what is
 * old. Nothing is replicated: writes are agreed on by all at once, and an election takes no time.
 */
export class EmbeddedEnsemble implements AsyncDisposable {
  readonly servers: readonly EnsembleMember[];
  readonly #ports: readonly EmbeddedServer[];
  readonly #database: Database;
  readonly #reaper: Reaper;
  #leader: EnsembleMember | undefined;

  private constructor(database: Database, ports: readonly EmbeddedServer[], reaper: Reaper) {
    this.#database = database;
    this.#ports = ports;
    this.#reaper = reaper;
    this.servers = ports.map((port, at) => new EnsembleMember(at + 1, port, () => this.#elect()));
  }

  /** Resolves when all servers listen. @throws LockConfigurationError for a wrong option, Error in production */
  static async start(servers = 3, options: EmbeddedEnsembleOptions = {}): Promise<EmbeddedEnsemble> {
    check(Number.isInteger(servers) && servers > 0, 'servers', servers, 'a whole number above zero');
    const resolved = resolveEmbeddedOptions(options);
    const database = databaseOf(resolved);
    const ports = Array.from({ length: servers }, () => serverOf(database, resolved));
    const reaper = new Reaper(database, resolved.containerCheckIntervalMs);
    const ensemble = new EmbeddedEnsemble(database, ports, reaper);
    await Promise.all(ports.map((port) => port.listen(0)));
    ensemble.#elect();
    return ensemble;
  }

  /** All servers, for clients. */
  get connectString(): string {
    return this.servers.map((server) => server.connectString).join(',');
  }

  /** The leader; `undefined` while too few servers run to have one. */
  get leader(): EnsembleMember | undefined {
    return this.#leader;
  }

  get followers(): EnsembleMember[] {
    return this.servers.filter((server) => server.isRunning && server !== this.#leader);
  }

  /** Kills servers until the others are too few: those close all connections, and no session expires. */
  async loseQuorum(): Promise<void> {
    const running = this.servers.filter(({ isRunning }) => isRunning);
    const most = Math.ceil(this.servers.length / 2) - 1;
    await Promise.all(running.slice(most).map((server) => server.kill()));
  }

  /** All servers run, know everything, and are well. */
  async restore(): Promise<void> {
    for (const server of this.servers) {
      server.heal();
      server.lag(0);
      if (!server.isRunning) await server.restart();
    }
  }

  /** As `EmbeddedZooKeeper.advance()`. */
  advance(ms: number): void {
    advance(this.#database.clock, ms);
  }

  /** As `EmbeddedZooKeeper.idle()`. */
  idle(): Promise<void> {
    return quiet(this.#ports);
  }

  async stop(): Promise<void> {
    this.#reaper.stop();
    this.#database.sessions.stand();
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** With a majority there is a leader. When it changes, all clients have to connect again, and sessions start anew. */
  #elect(): void {
    const running = this.servers.filter(({ isRunning }) => isRunning);
    const hasQuorum = running.length > this.servers.length / 2;
    const leader = hasQuorum ? (running.find((server) => server === this.#leader) ?? running[0]) : undefined;
    this.#ports.forEach((port, at) => {
      port.mode = this.servers[at] === leader ? 'leader' : 'follower';
      port.hasQuorum = hasQuorum;
    });
    if (leader === this.#leader) return;
    this.#leader = leader;
    for (const server of running) server.disconnect('fin');
    this.#database.sessions.stand();
    this.#reaper.stop();
    if (!leader) return;
    this.#database.nextEpoch();
    this.#database.sessions.resume();
    this.#reaper.start();
  }
}
