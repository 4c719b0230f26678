import { setTimeout as passTime } from 'node:timers/promises';
import { sharedNow } from '../../robustness/clock.js';
import type { Mode } from '../../robustness/model/history.js';
import type { Random } from '../../robustness/random.js';
import type { Belief } from '../../robustness/traffic/beliefs.js';
import type { Register } from '../../robustness/traffic/register-client.js';
import type { TrafficTools } from './tools.js';

const LONGEST_WAY_MS = 8;

/**
 * Storage that is guarded by tokens, some milliseconds away. The accepted writes are computed later from the order of
 * arrival in the history.
 */
export class Storage implements Register {
  readonly #tools: Pick<TrafficTools, 'record'>;
  readonly #random: Random;

  constructor(tools: Pick<TrafficTools, 'record'>, random: Random) {
    this.#tools = tools;
    this.#random = random;
  }

  async write({ id: hold, lease }: Belief, mode: Mode): Promise<void> {
    const { key, fencingToken } = lease;
    await passTime(this.#random.int(0, LONGEST_WAY_MS));
    this.#tools.record({ what: 'write', hold, at: sharedNow(), key, mode, token: String(fencingToken) });
  }
}
