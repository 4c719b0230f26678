import { check } from '../../contract/check.js';
import type { Database } from './database/database.js';
import { resolveEnsembleOptions } from './embedded-ensemble.options.js';
import type { EmbeddedEnsembleOptions, ResolvedEnsembleOptions } from './embedded-ensemble.options.js';
import { Quorum } from './ensemble/quorum.js';
import { EnsembleMember } from './ensemble-member.js';
import { databaseOf, serverOf } from './make-server.js';
import { Reaper } from './requests/reaper.js';
import { quiet } from './server/quiet.js';
import type { EmbeddedServer } from './server/embedded-server.js';
import { advance } from './sessions/manual-clock.js';

/**
 * Several servers in this process that share one history of writes. It simulates clients that change servers, lose all
 * servers, read old data, or use a server that has not noticed that it is cut off. Every half tick, a follower answers
 * its leader's heartbeat with the sessions that were active.
 */
export class EmbeddedEnsemble implements AsyncDisposable {
  /** All servers, also those that are not running. */
  readonly servers: readonly EnsembleMember[];
  readonly #ports: readonly EmbeddedServer[];
  readonly #database: Database;
  readonly #reaper: Reaper;
  readonly #quorum: Quorum;

  private constructor(servers: number, options: ResolvedEnsembleOptions) {
    const database = databaseOf(options);
    this.#database = database;
    this.#reaper = new Reaper(database, options.containerCheckIntervalMs);
    const quorum = new Quorum(database, options, (isLed) => (isLed ? this.#reaper.start() : this.#reaper.stop()));
    this.#quorum = quorum;
    this.#ports = Array.from({ length: servers }, (_, place) => {
      const longestSessionMs = options.longestSessionsMs[place];
      return serverOf(database, { ...options, longestSessionMs }, (server) => quorum.join(server));
    });
    this.servers = quorum.peers.map((peer, at) => new EnsembleMember(at + 1, peer, quorum));
  }

  /** Resolves when all servers serve. @throws LockConfigurationError for a wrong option, Error in production */
  static async start(servers = 3, options: EmbeddedEnsembleOptions = {}): Promise<EmbeddedEnsemble> {
    check(Number.isInteger(servers) && servers > 0, 'servers', servers, 'a whole number above zero');
    const ensemble = new EmbeddedEnsemble(servers, resolveEnsembleOptions(options));
    await Promise.all(ensemble.#ports.map((port) => port.listen(0)));
    ensemble.#quorum.begin();
    return ensemble;
  }

  /** The connect string of all servers, for clients. */
  get connectString(): string {
    return this.servers.map((server) => server.connectString).join(',');
  }

  /**
   * The leader that was elected last. `undefined` from the moment at which it notices that it no longer leads, until
   * the next election.
   */
  get leader(): EnsembleMember | undefined {
    return this.servers.find((_, at) => this.#quorum.peers[at] === this.#quorum.leader);
  }

  /** The running servers that do not lead. */
  get followers(): EnsembleMember[] {
    return this.servers.filter((server) => server.isRunning && server !== this.leader);
  }

  /**
   * The time on the servers' clock, in milliseconds since some moment. `EmbeddedSession.earliestEndMs` refers to it.
   */
  get nowMs(): number {
    return this.#database.clock.now();
  }

  /** Kills servers until there is no quorum. The remaining ones close all connections, and no session expires. */
  async loseQuorum(): Promise<void> {
    const running = this.servers.filter(({ isRunning }) => isRunning);
    const most = Math.ceil(this.servers.length / 2) - 1;
    await Promise.all(running.slice(most).map((server) => server.kill()));
  }

  /**
   * Kills all servers and deletes their data. After `restore()` they have no znodes and no sessions, and their zxids
   * start again from the first one. Clients that remember a larger zxid are not served until they discard it.
   */
  async loseData(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    this.#database.loseData();
  }

  /** Restores all servers: they run, reach each other, are up to date, and have no faults. An election may follow. */
  async restore(): Promise<void> {
    for (const server of this.servers) {
      server.heal();
      server.lag(0);
      server.rejoin();
      if (!server.isRunning) await server.restart();
    }
  }

  /** Like `EmbeddedZooKeeper.reap()`, once the servers can agree. Without a leader nothing happens. */
  reap(): void {
    this.#database.propose(() => this.#reaper.reap());
  }

  /** Like `EmbeddedZooKeeper.advance()`. */
  advance(ms: number): void {
    advance(this.#database.clock, ms);
  }

  /** Like `EmbeddedZooKeeper.idle()`. */
  idle(): Promise<void> {
    return quiet(this.#ports, () => this.#quorum.isBusy);
  }

  /** Stops all servers. */
  async stop(): Promise<void> {
    this.#quorum.stop();
    await Promise.all(this.#ports.map((port) => port.close()));
  }

  /** Stops all servers, like `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
