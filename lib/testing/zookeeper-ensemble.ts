import { setTimeout as pause } from 'node:timers/promises';
import { EnsembleNetwork } from './ensemble-network.js';
import { EnsembleServer } from './ensemble-server.js';
import { freeServerPorts } from './server-ports.js';
import { findZooKeeperDistribution } from './zookeeper-distribution.js';
import { withoutUndefined } from '../lock.options.js';

/** The options of an ensemble. */
export interface ZooKeeperEnsembleOptions {
  /** The number of servers. Default 3. */
  readonly servers?: number | undefined;
  /** ZooKeeper's unit of time, in milliseconds. A session timeout is between 2 and 20 ticks. Default 500. */
  readonly tickTimeMs?: number | undefined;
  /**
   * The number of ticks that a follower may be out of touch with its leader before each gives up the other. Default 5.
   */
  readonly syncLimit?: number | undefined;
  /** The number of ticks that a follower may take to join its leader. Default 10. */
  readonly initLimit?: number | undefined;
  /** Java system properties of every server. */
  readonly systemProperties?: Readonly<Record<string, string>> | undefined;
  /** The time limit of a start, or of an election, in milliseconds. Default 60 000. */
  readonly startTimeoutMs?: number | undefined;
}

const DEFAULTS = { tickTimeMs: 500, syncLimit: 5, initLimit: 10, systemProperties: {} } as const;
const START_ATTEMPTS = 3;
const POLL_MS = 20;

/**
 * Several real ZooKeeper servers on 127.0.0.1 that replicate each other. They can be killed, frozen and partitioned,
 * and end with the process that started them. Needs an installed ZooKeeper: Docker is not supported.
 */
export class ZooKeeperEnsemble implements AsyncDisposable {
  /** All servers, also those that are not running. */
  readonly servers: readonly EnsembleServer[];
  readonly #network: EnsembleNetwork;
  readonly #electionMs: number;

  private constructor(servers: readonly EnsembleServer[], network: EnsembleNetwork, electionMs: number) {
    this.servers = servers;
    this.#network = network;
    this.#electionMs = electionMs;
  }

  /** Resolves when all servers serve. @throws Error with the end of a server's log, or what to install */
  static async start(options: ZooKeeperEnsembleOptions = {}): Promise<ZooKeeperEnsemble> {
    for (let attempt = 1; ; attempt++) {
      const ensemble = await ZooKeeperEnsemble.#planned(options);
      try {
        await Promise.all(ensemble.servers.map((server) => server.start()));
        await ensemble.#complete();
        return ensemble;
      } catch (error) {
        await ensemble.stop();
        // Another process may have taken a port between finding it free and listening on it.
        if (!/BindException|address already in use/i.test(String(error)) || attempt === START_ATTEMPTS) throw error;
      }
    }
  }

  /** The connect string of all servers, for clients. */
  get connectString(): string {
    return this.servers.map((server) => server.connectString).join(',');
  }

  /**
   * Resolves with the leader as soon as there is one. Of two servers that consider themselves the leader, it is the one
   * that was elected last.
   */
  leader(): Promise<EnsembleServer> {
    return this.#eventually('a leader', async () => {
      const leaders = (await this.#statuses()).filter(({ mode }) => mode === 'leader');
      return leaders.sort((a, b) => Number(b.epoch - a.epoch))[0]?.server;
    });
  }

  /** Returns the servers that consider themselves followers right now. */
  async followers(): Promise<EnsembleServer[]> {
    return (await this.#statuses()).filter(({ mode }) => mode === 'follower').map(({ server }) => server);
  }

  /**
   * Cuts the network between these servers and the others. What they send each other does not arrive, and no connection
   * is closed. Clients reach all of them as before. Earlier cuts remain in effect.
   */
  partition(group: EnsembleServer | readonly EnsembleServer[]): void {
    const inside = [group].flat();
    this.#network.cut(new Set(inside.map((server) => this.servers.indexOf(server))));
  }

  /** Restores the network between the servers. What was sent meanwhile arrives. */
  heal(): void {
    this.#network.heal();
  }

  /** Heals the network, thaws frozen servers and restarts those that are down. Resolves when all of them serve. */
  async restore(): Promise<void> {
    this.heal();
    await Promise.all(this.servers.map((server) => (server.pid === undefined ? server.restart() : server.thaw())));
    await this.#complete();
  }

  /** Stops the servers and removes their data. */
  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.dispose()));
    await this.#network.close();
  }

  /** Stops the servers and removes their data. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  static async #planned(options: ZooKeeperEnsembleOptions): Promise<ZooKeeperEnsemble> {
    const { servers: count = 3, startTimeoutMs = 60_000, ...settings } = options;
    const distribution = findZooKeeperDistribution();
    const ports = await freeServerPorts(3 * count);
    const own = Array.from({ length: count }, (_, place) => {
      const [client = 0, quorum = 0, election = 0] = ports.slice(3 * place);
      return { client, quorum, election };
    });
    const network = await EnsembleNetwork.open(own);
    const servers = own.map(({ client: port }, place) => {
      const view = own.map((ports, to) => [to + 1, to === place ? ports : network.route(place, to)] as const);
      return new EnsembleServer(
        { ...DEFAULTS, ...withoutUndefined(settings), distribution, port, view: new Map(view), id: place + 1 },
        startTimeoutMs,
      );
    });
    return new ZooKeeperEnsemble(servers, network, startTimeoutMs);
  }

  /**
   * Resolves when there is one leader and all others follow. The leader's own count is checked, too: a server that was
   * frozen may not have noticed that it has lost its leader.
   */
  async #complete(): Promise<void> {
    await this.#eventually('a quorum of all servers', async () => {
      const statuses = await this.#statuses();
      const [leader, ...more] = statuses.filter(({ mode }) => mode === 'leader');
      if (!leader || more.length > 0 || statuses.length < this.servers.length) return undefined;
      const [, synced] = /^zk_synced_followers\s+(\d+)/m.exec(await leader.server.ask('mntr')) ?? [];
      return Number(synced) === this.servers.length - 1 || undefined;
    });
  }

  async #statuses() {
    const answers = this.servers.map(async (server) => {
      const status = await server.status();
      return status && { server, ...status };
    });
    return (await Promise.all(answers)).filter((status) => status !== undefined);
  }

  async #eventually<T>(what: string, answer: () => Promise<T | undefined>): Promise<T> {
    for (const startedAt = performance.now(); performance.now() - startedAt < this.#electionMs;) {
      const value = await answer();
      if (value !== undefined) return value;
      await pause(POLL_MS);
    }
    const errors = this.servers.map((server) => server.startError(`not ${what} within ${this.#electionMs} ms`).message);
    throw new Error(errors.join('\n'));
  }
}
