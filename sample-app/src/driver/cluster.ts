import { Instance } from './instance.js';
import type { InstanceListener } from './instance.js';

export const INSTANCES = ['A', 'B', 'C', 'D', 'E'];

/** By how much the wall clock of each is wrong. */
export const CLOCK_SKEWS_MS = [0, 400, -400, 200, -200];

/** The shop as its clients see it: five instances, and a balancer that hands the requests round. */
export class Cluster implements AsyncDisposable {
  private turn = 0;

  private constructor(private alive: readonly Instance[]) {}

  get instances(): readonly Instance[] {
    return this.alive;
  }

  static async start(
    env: Readonly<Record<string, string>>,
    listener: InstanceListener,
    signal: AbortSignal,
  ): Promise<Cluster> {
    const starts = await Promise.allSettled(
      INSTANCES.map((name, place) =>
        Instance.start(name, { ...env, CLOCK_SKEW_MS: String(CLOCK_SKEWS_MS[place]) }, listener, signal),
      ),
    );
    const cluster = new Cluster(starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : [])));
    const failure = starts.find((start) => start.status === 'rejected');
    if (!failure) return cluster;
    await cluster[Symbol.asyncDispose]();
    throw failure.reason;
  }

  /** The instance whose turn it is. */
  get next(): Instance {
    return this.instances[this.turn++ % this.instances.length]!;
  }

  /** One instance dies, and does nothing more. */
  async kill(name: string | undefined): Promise<void> {
    const victims = this.alive.filter((instance) => instance.name === name);
    this.alive = this.alive.filter((instance) => instance.name !== name);
    await Promise.all(victims.map((instance) => instance.kill()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.stop()));
  }
}
