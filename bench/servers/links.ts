import { FaultProxy } from '../../lib/testing/index.js';

const SHORTEST_MS = 50;
const LONGEST_MS = 500;

/** Links between the workers and a server: a proxy of its own for each worker and address. */
export class Links implements AsyncDisposable {
  readonly #proxies: readonly (readonly FaultProxy[])[];
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(proxies: readonly (readonly FaultProxy[])[]) {
    this.#proxies = proxies;
  }

  /** @param delayMs how long bytes are on their way, in each direction */
  static async open(workers: number, address: string, delayMs: number): Promise<Links> {
    const opened = Array.from({ length: workers }, () =>
      Promise.all(address.split(',').map((at) => FaultProxy.open(at))),
    );
    const links = new Links(await Promise.all(opened));
    links.#proxies.flat().forEach((proxy) => proxy.delay(delayMs));
    return links;
  }

  /** The address that each worker connects to. */
  get addresses(): readonly string[] {
    return this.#proxies.map((ofWorker) => ofWorker.map(({ connectString }) => connectString).join());
  }

  /** From now on, resets each worker's connections every 50 to 500 ms. */
  resetAgainAndAgain(): void {
    this.#proxies.forEach((ofWorker) => this.#resetLater(ofWorker));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timers.forEach((timer) => clearTimeout(timer));
    await Promise.all(this.#proxies.flat().map((proxy) => proxy.close()));
  }

  #resetLater(proxies: readonly FaultProxy[]): void {
    const reset = () => {
      this.#timers.delete(timer);
      proxies.forEach((proxy) => proxy.disconnect('rst'));
      this.#resetLater(proxies);
    };
    const timer = setTimeout(reset, SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
    this.#timers.add(timer);
  }
}
