import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { World } from '../failpoints/failpoint.js';
import { FencedRegister } from '../model/fenced-register.js';
import type { RegisterWrite } from '../model/history.js';
import { makeRunDirectory } from '../places.js';
import type { Scenario } from './scenario.js';
import { Seat } from './seat.js';
import { startServers } from '../servers/servers.js';
import type { Servers } from '../servers/servers.js';

/** Servers, links and workers of one run, and the register that the workers write to. */
export class Cluster implements World, AsyncDisposable {
  readonly servers: Servers;
  readonly seats: readonly Seat[];
  /** The requests to the register, in the order of arrival. */
  readonly writes: RegisterWrite[];
  /** The base path of all locks. */
  readonly basePath: string;
  readonly #directory: string;

  private constructor(
    servers: Servers,
    basePath: string,
    seats: readonly Seat[],
    writes: RegisterWrite[],
    directory: string,
  ) {
    this.basePath = basePath;
    this.servers = servers;
    this.seats = seats;
    this.writes = writes;
    this.#directory = directory;
  }

  /** Resolves when every worker runs. */
  static async start(scenario: Scenario, seed: number): Promise<Cluster> {
    const servers = await startServers(scenario.servers, scenario.backend);
    const directory = makeRunDirectory();
    const { lock, sessionTimeoutMs, finalLimitMs, backend } = scenario;
    const basePath = `${backend === 'zookeeper' ? '/' : ''}robustness-${randomUUID()}`;
    const orders = { seed, backend, basePath, sessionTimeoutMs, lock, finalLimitMs };
    const guarded = { register: new FencedRegister(), writes: [] as RegisterWrite[] };
    const seats = scenario.traffic.map(async (traffic, place) => {
      const { length } = servers.ports;
      const known = servers.ports.filter((_, index) => traffic.knows === 'all servers' || index === place % length);
      const links = await Promise.all(known.map((port) => servers.openLink(port)));
      return new Seat(`worker ${place + 1}`, links, directory, { ...orders, traffic }, guarded);
    });
    const cluster = new Cluster(servers, basePath, await Promise.all(seats), guarded.writes, directory);
    await Promise.all(cluster.seats.map((seat) => seat.take()));
    return cluster;
  }

  /** Ends every fault. */
  async restore(): Promise<void> {
    for (const link of this.seats.flatMap((seat) => seat.links)) link.heal();
    for (const seat of this.seats) seat.worker.resume();
    await this.servers.restore();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.seats.flatMap((seat) => seat.processes).forEach((worker) => worker.destroy());
    await Promise.all(this.seats.flatMap((seat) => seat.links).map((link) => link.close()));
    await this.servers[Symbol.asyncDispose]();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
