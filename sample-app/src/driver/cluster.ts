import { Instance } from './instance.js';
import type { InstanceListener } from './instance.js';
import type { Environment, WarmProcess } from './warm-process.js';

export const INSTANCES = ['A', 'B', 'C', 'D', 'E'];

/** The error of each instance's wall clock. */
export const CLOCK_SKEWS_MS = [0, 400, -400, 200, -200];

type Start = (name: string, place: number, process?: WarmProcess) => Promise<Instance>;

/** The shop as its clients see it: up to five instances, and a balancer that distributes the requests. */
export class Cluster implements AsyncDisposable {
  private turn = 0;

  private constructor(
    private alive: readonly Instance[],
    private readonly start: Start,
  ) {}

  get instances(): readonly Instance[] {
    return this.alive;
  }

  /** Starts the first instance alone on the machine, so that the shop opens as soon as it can. */
  static async open(
    env: Environment,
    listener: InstanceListener,
    signal: AbortSignal,
    first?: WarmProcess,
    /** The environment of one instance alone, by its name. */
    own: Readonly<Record<string, Environment>> = {},
  ): Promise<Cluster> {
    const start: Start = (name, place, process) => {
      const all = { ...env, CLOCK_SKEW_MS: String(CLOCK_SKEWS_MS[place]), ...own[name] };
      return Instance.start(name, all, listener, signal, process);
    };
    return new Cluster([await start(INSTANCES[0]!, 0, first)], start);
  }

  /** Starts the missing instances. */
  async fill(): Promise<void> {
    const missing = INSTANCES.slice(this.instances.length);
    const starts = await Promise.allSettled(missing.map((name, place) => this.start(name, place + 1)));
    this.alive = [...this.alive, ...starts.flatMap((start) => (start.status === 'fulfilled' ? start.value : []))];
    const failure = starts.find((start) => start.status === 'rejected');
    if (failure) throw failure.reason;
  }

  /** The instance that gets the next request. */
  get next(): Instance {
    return this.instances[this.turn++ % this.instances.length]!;
  }

  /** Kills one instance. */
  async kill(name: string | undefined): Promise<void> {
    const victims = this.alive.filter((instance) => instance.name === name);
    this.alive = this.alive.filter((instance) => instance.name !== name);
    await Promise.all(victims.map((instance) => instance.kill()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.stop()));
  }
}
