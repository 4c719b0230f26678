import { after } from '../../async/timer.js';
import type { Dispose } from '../../async/abort.js';
import { backoff } from '../../async/backoff.js';
import { now } from '../../async/clock.js';
import type { ServerAddress } from './connect-string.js';

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
// A link that ends sooner was of no use: the server, or what is asked of it, is at fault.
const USEFUL_MS = 1_000;

/** Which server to try next: each once without a pause, in an order of its own for every client, then with pauses. */
export class ServerRotation {
  readonly #servers: readonly ServerAddress[];
  readonly #pauses = backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  #next = 0;
  #triedInVain = 0;
  #connectedAt = Infinity;
  #cancel: Dispose = () => {};

  constructor(servers: readonly ServerAddress[], random: () => number = Math.random) {
    this.#servers = shuffled(servers, random);
  }

  /** Calls back with the next server to try, never in the same turn. */
  next(callback: (server: ServerAddress) => void): void {
    if (now() - this.#connectedAt >= USEFUL_MS) this.#startOver();
    this.#connectedAt = Infinity;
    const pauseMs = this.#triedInVain < this.#servers.length ? 0 : this.#pauses.next();
    this.#triedInVain++;
    this.#cancel = after(pauseMs, () => callback(this.#take()));
  }

  /** A server answered. When it has done so for a while, whoever is next is again tried without a pause. */
  succeeded(): void {
    this.#connectedAt = now();
  }

  stop(): void {
    this.#cancel();
  }

  #startOver(): void {
    this.#triedInVain = 0;
    this.#pauses.reset();
  }

  #take(): ServerAddress {
    const server = this.#servers[this.#next % this.#servers.length];
    this.#next++;
    if (!server) throw new RangeError('no servers');
    return server;
  }
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  const rest = [...items];
  return items.map(() => rest.splice(Math.floor(random() * rest.length), 1)).flat();
}
