import { brokenIn } from './break-in.js';
import { startEnsemble } from './ensemble.js';
import { startEtcd } from './etcd.js';
import { startRedis } from './redis.js';
import type { Server } from './server.js';
import { startZooKeeper } from './zookeeper.js';

export type ServerName = 'zookeeper' | 'ensemble' | 'redis' | 'redis-fsync' | 'etcd';

const START: Readonly<Record<ServerName, (breakInMs: number) => Promise<Server>>> = {
  zookeeper: (breakInMs) => brokenIn(startZooKeeper(), breakInMs),
  ensemble: (breakInMs) => brokenIn(startEnsemble(), breakInMs),
  redis: () => startRedis('no'),
  'redis-fsync': () => startRedis('always'),
  etcd: startEtcd,
};

/** The servers that this run has started. Other servers on this machine are never used. */
export class Servers implements AsyncDisposable {
  readonly #started = new Map<ServerName, Promise<Server>>();
  readonly #breakInMs: number;

  /** @param breakInMs how long servers on Java machines work before the first measurement on them */
  constructor(breakInMs: number) {
    this.#breakInMs = breakInMs;
  }

  /** Returns the server, and starts it on the first request. @throws Error that says what to install */
  get(name: ServerName): Promise<Server> {
    const started = this.#started.get(name) ?? START[name](this.#breakInMs);
    this.#started.set(name, started);
    return started;
  }

  async stop(name: ServerName): Promise<void> {
    const server = await this.#started.get(name)?.catch(() => undefined);
    this.#started.delete(name);
    await server?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#started.keys()].map((name) => this.stop(name)));
  }
}
