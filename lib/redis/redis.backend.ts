import { promised } from '../async/deferred.js';
import type { BackendGuarantees } from '../contract/backend-guarantees.js';
import type { Contender } from '../contract/contender.js';
import type { CoordinationBackend } from '../contract/coordination-backend.js';
import { LockConfigurationError, LockTimeoutError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { checkKey } from '../contract/key.js';
import type {
  BackendState,
  ConnectionLog,
  HoldersQuestion,
  LockBackend,
  LockBackendDefinition,
} from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { PermitCounts } from '../contract/semaphore.options.js';
import type { BackendVitals, SessionChange, Survey, SurveyQuestion } from '../contract/survey.js';
import { clientClass } from './client/redis-client.js';
import { RedisBarriers } from './coordination/barriers.js';
import { RedisCells } from './coordination/cells.js';
import { RedisQueues } from './coordination/queues.js';
import { notPlain, PlainLocks } from './locks/plain-locks.js';
import { RedisElections } from './redis-elections.js';
import { RedisLocks } from './redis-locks.js';
import { RedisRecords } from './redis-records.js';
import { openShards } from './open-shards.js';
import type { RedisBackendOptions } from './open-shards.js';
import { surveyOf } from './redis-survey.js';
import { resolveRedisOptions } from './redis.options.js';
import type { RedisOptions } from './redis.options.js';
import type { RedisShards } from './session/redis-shards.js';
import type { RedisReport } from './session/session-report.js';

const EVERY = 2 ** 31;

/** A lock backend on Redis. Every request is a script, which runs on the session that this process has in the key's shard. */
export class RedisBackend implements LockBackend {
  readonly name = 'redis';
  readonly records: RedisRecords;
  readonly permitCounts: PermitCounts;
  readonly coordination: CoordinationBackend;
  readonly elections: RedisElections;
  readonly lockedAfterDeathMs: number;
  readonly #basePath: string;
  readonly #settles: boolean;
  readonly #reports: readonly RedisReport[];
  readonly #shards: RedisShards;
  readonly #locks: RedisLocks;
  readonly #plain: PlainLocks | undefined;

  constructor(options: RedisBackendOptions) {
    const { basePath, releaseTimeoutMs } = options;
    const { shards, reports } = openShards(options);
    this.#basePath = basePath;
    this.#settles = options.restartDelayMs >= options.sessionTimeoutMs;
    this.lockedAfterDeathMs = options.sessionTimeoutMs;
    this.#shards = shards;
    this.#reports = reports;
    this.#locks = new RedisLocks(shards, releaseTimeoutMs);
    this.#plain = options.plainLocks ? new PlainLocks(shards.first, options) : undefined;
    this.permitCounts = this.#locks;
    this.records = new RedisRecords(shards.first);
    this.elections = new RedisElections(shards, releaseTimeoutMs);
    this.coordination = {
      queues: new RedisQueues(shards, releaseTimeoutMs),
      barriers: new RedisBarriers(shards, releaseTimeoutMs),
      cells: new RedisCells(shards, 'value'),
    };
  }

  get guarantees(): BackendGuarantees {
    return {
      decidedBy: 'one server',
      clocks: 'those of clients and of the server',
      failOver: this.#settles ? 'no free key for one session timeout' : 'a held key may be granted again',
      writtenAt: 'server',
      sets: this.#shards.all.length === 1 ? 'any keys' : 'keys of one shard',
      ...this.#shards.durability,
    };
  }

  /**
   * The time for which a server that is new, or was restarted or promoted, grants no free key yet, in milliseconds.
   * Asks no server.
   */
  get settlingMs(): number {
    return this.#shards.settlingMs;
  }

  get state(): BackendState {
    return this.#shards.state;
  }

  identify(key: string): string {
    checkKey(key);
    if (!isPlain(key)) return `${this.#basePath}/${key}`;
    if (this.#plain) return `plain ${key}`;
    const instead =
      'leave out the slash: the key is stored below `basePath`; or set `plainLocks` for locks as other libraries write them';
    throw new LockConfigurationError(`"${key}": redis() has no absolute keys; ${instead}`, { key });
  }

  vitals(): BackendVitals {
    return this.#shards.vitals;
  }

  observe(listener: (change: SessionChange) => void): void {
    for (const report of this.#reports) report.changes.observe(listener);
  }

  logTo(log: ConnectionLog): void {
    for (const report of this.#reports) report.logTo(log);
  }

  async connect(): Promise<void> {
    await this.#shards.connect();
  }

  acquire(request: LockRequest): Promise<GrantedLease | null> {
    return promised(() => {
      this.identify(request.key);
      const locks = this.#plain && isPlain(request.key) ? this.#plain : this.#locks;
      return locks.acquire(request);
    });
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    for (const { key } of requests) this.#mustHaveQueue(key);
    return this.#locks.acquireAll(requests);
  }

  async lineOf(key: string): Promise<readonly Contender[]> {
    this.#mustHaveQueue(key);
    const queues = this.#locks.queuesOf(key);
    const lists = queues.map((queue) => this.#locks.list(queue, key, { most: EVERY, waiting: true }));
    return (await Promise.all(lists)).flat();
  }

  async holdersOf({ key, of, most, signal }: HoldersQuestion): Promise<readonly Contender[]> {
    this.#mustHaveQueue(key);
    const [lock, permits] = this.#locks.queuesOf(key);
    const queue = of === 'key' ? lock : permits;
    return queue ? this.#locks.list(queue, key, { most, waiting: false, signal }) : [];
  }

  survey(question: SurveyQuestion): Promise<Survey> {
    return surveyOf(this.#shards, question);
  }

  async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    this.#mustHaveQueue(key);
    return this.#locks.revoke(key, options);
  }

  explain(reason: unknown): unknown {
    // While disconnected, this process cannot find out whether another one still holds the key.
    const isTimeout = reason instanceof LockTimeoutError;
    const unreachable = isTimeout ? this.#shards.unreachable : undefined;
    return isTimeout && unreachable ? unreachable.unavailable(reason.waitMs, reason.key) : reason;
  }

  async close(): Promise<void> {
    await this.#plain?.close();
    await this.#shards.close();
    this.#reports[0]?.changes.closed();
  }

  /** @throws LockConfigurationError for a key that cannot be used, or is a lock without a wait queue */
  #mustHaveQueue(key: string): void {
    this.identify(key);
    if (isPlain(key)) throw notPlain(key);
  }
}

function isPlain(key: string): boolean {
  return key.startsWith('/');
}

/**
 * The Redis backend. It checks its options at once. Every application that uses it gets a session of its own.
 * @throws LockConfigurationError that names the wrong field, or the package that is not installed
 */
export function redis(options: RedisOptions = {}): LockBackendDefinition {
  return definitionOf(options, false);
}

/**
 * The Redis backend of an operator's command. It changes nothing of how long a server settles that applications know, nor the
 * number of shards. After the clock of the server was set back, keys of dead processes may stay for its session timeout.
 * @throws as `redis()`
 */
export function redisObserver(options: RedisOptions): LockBackendDefinition {
  return definitionOf(options, true);
}

function definitionOf(options: RedisOptions, isObserver: boolean): LockBackendDefinition {
  const resolved = resolveRedisOptions(options);
  // An application that lacks the package does not start, instead of failing at its first connection.
  const { connection, clusterClient } = resolved.address;
  if (!connection && !clusterClient) clientClass();
  return { name: 'redis', create: () => new RedisBackend({ ...resolved, isObserver }) };
}
