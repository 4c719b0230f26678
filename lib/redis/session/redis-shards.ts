import { LockConfigurationError } from '../../contract/errors.js';
import type { BackendState } from '../../contract/lock-backend.js';
import type { BackendVitals } from '../../contract/survey.js';
import { slotOf } from '../client/hash-slot.js';
import type { RedisSessions } from './redis-sessions.js';
import type { Durability } from './server-durability.js';

/**
 * The sessions of a process: one for each shard of the keys. A key belongs to one shard, by its hash. Keys with the same
 * text in braces belong to the same shard.
 */
export class RedisShards {
  readonly #all: readonly RedisSessions[];

  /** @param all one for each shard, at least one */
  constructor(all: readonly RedisSessions[]) {
    this.#all = all;
  }

  get all(): readonly RedisSessions[] {
    return this.#all;
  }

  /** The shard of the records: one write may change several of them. */
  get first(): RedisSessions {
    return this.#all[0] as RedisSessions;
  }

  /** The longest time without looking at something that is waited for: a message may be lost. */
  get lookEveryMs(): number {
    return this.first.lookEveryMs;
  }

  /** Returns the sessions of the shard of a key. */
  of(key: string): RedisSessions {
    return this.#all[this.#shardOf(key)] as RedisSessions;
  }

  /**
   * Returns the sessions of the shard that all the keys belong to.
   * @throws LockConfigurationError that names keys of different shards
   */
  ofAll(keys: readonly string[]): RedisSessions {
    const [first = ''] = keys;
    const other = keys.find((key) => this.#shardOf(key) !== this.#shardOf(first));
    if (other === undefined) return this.of(first);
    throw new LockConfigurationError(
      `"${first}" and "${other}" are keys of different shards, and no server has both: write the same text in braces ` +
        `into keys that belong together, as in "{group}/${first}" and "{group}/${other}"`,
      { key: first },
    );
  }

  /** The worst state of all shards. */
  get state(): BackendState {
    const states = this.#all.map(({ state }) => state);
    return states.find((state) => state === 'lost') ?? states.find((state) => state !== 'connected') ?? 'connected';
  }

  /** The numbers of the shard whose leases would be lost first. One without a session has none to lose. */
  get vitals(): BackendVitals {
    const marginOf = ({ marginMs = Infinity }: BackendVitals) => marginMs;
    return this.#all
      .map(({ vitals }) => vitals)
      .reduce((worst, one) => (marginOf(one) < marginOf(worst) ? one : worst));
  }

  /** A shard without a server, if there is one. */
  get unreachable(): RedisSessions | undefined {
    return this.#all.find(({ state }) => state !== 'connected');
  }

  /** The time until all shards grant free keys, in milliseconds. */
  get settlingMs(): number {
    return Math.max(...this.#all.map(({ settlingMs }) => settlingMs));
  }

  /** Whether one of the servers can forget applied writes. */
  get durability(): Durability {
    const all = this.#all.map(({ durability }) => durability);
    const isDurable = all.every(({ records }) => records === 'durable');
    return {
      records: isDurable ? 'durable' : 'may be lost',
      advice: [...new Set(all.flatMap(({ advice }) => advice))],
    };
  }

  /** @throws LockUnavailableError, LockConfigurationError */
  async connect(): Promise<void> {
    await Promise.all(this.#all.map((sessions) => sessions.session()));
  }

  /** Ends all sessions. Never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((sessions) => sessions.close()));
  }

  #shardOf(key: string): number {
    return this.#all.length === 1 ? 0 : slotOf(key) % this.#all.length;
  }
}
