import type { BackendGuarantees } from '../contract/backend-guarantees.js';
import type { Contender } from '../contract/contender.js';
import type { CoordinationBackend } from '../contract/coordination-backend.js';
import { LockTimeoutError } from '../contract/errors.js';
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
import { clientOpener } from './client/etcd-client.js';
import { EtcdBarriers } from './coordination/barriers.js';
import { EtcdCells } from './coordination/cells.js';
import { EtcdQueues } from './coordination/queues.js';
import { EtcdElections } from './etcd-elections.js';
import { EtcdLocks } from './etcd-locks.js';
import { EtcdRecords } from './etcd-records.js';
import { surveyOf } from './etcd-survey.js';
import { resolveEtcdOptions } from './etcd.options.js';
import type { EtcdOptions, EtcdTlsOptions, ResolvedEtcdOptions } from './etcd.options.js';
import { QueueViews } from './locks/queue-views.js';
import { EtcdKeys } from './session/etcd-keys.js';
import { EtcdSessions } from './session/etcd-sessions.js';
import { EtcdReport } from './session/session-report.js';

/** A lock backend on etcd. Every entry is a key that ends with the one lease of this process. */
export class EtcdBackend implements LockBackend {
  readonly name = 'etcd';
  readonly guarantees: BackendGuarantees = {
    decidedBy: 'a majority of servers',
    clocks: 'those of clients',
    failOver: 'goes on',
    writtenAt: 'writer',
    records: 'durable',
    sets: 'any keys',
    advice: [],
  };
  readonly records: EtcdRecords;
  readonly permitCounts: PermitCounts;
  readonly coordination: CoordinationBackend;
  readonly elections: EtcdElections;
  /** The servers, as `host:port`. */
  readonly hosts: readonly string[];
  /** The options of connections to the servers that are encrypted. */
  readonly tls: EtcdTlsOptions | undefined;
  readonly #report = new EtcdReport();
  readonly #sessions: EtcdSessions;
  readonly #locks: EtcdLocks;

  constructor(options: ResolvedEtcdOptions) {
    const { basePath, wire, releaseTimeoutMs, tls } = options;
    this.hosts = options.hosts;
    this.tls = tls;
    const openClient = clientOpener(tls as Parameters<typeof clientOpener>[0]);
    this.#sessions = new EtcdSessions(new EtcdKeys(basePath, wire), options, openClient, this.#report);
    const views = new QueueViews(this.#sessions.watches, this.#sessions.lookEveryMs);
    this.#locks = new EtcdLocks(this.#sessions, views, releaseTimeoutMs);
    this.permitCounts = this.#locks;
    this.records = new EtcdRecords(this.#sessions);
    this.elections = new EtcdElections(this.#sessions, views, releaseTimeoutMs);
    this.coordination = {
      queues: new EtcdQueues(this.#sessions, views, releaseTimeoutMs),
      barriers: new EtcdBarriers(this.#sessions, releaseTimeoutMs),
      cells: new EtcdCells(this.#sessions, 'value'),
    };
  }

  get lockedAfterDeathMs(): number {
    return this.#sessions.lockedAfterDeathMs;
  }

  get state(): BackendState {
    return this.#sessions.state;
  }

  identify(key: string): string {
    checkKey(key);
    return this.#sessions.keys.identify(key);
  }

  vitals(): BackendVitals {
    return this.#sessions.vitals;
  }

  observe(listener: (change: SessionChange) => void): void {
    this.#report.changes.observe(listener);
  }

  logTo(log: ConnectionLog): void {
    this.#report.logTo(log);
  }

  async connect(): Promise<void> {
    await this.#sessions.session();
  }

  async acquire(request: LockRequest): Promise<GrantedLease | null> {
    this.identify(request.key);
    return this.#locks.acquire(request);
  }

  async acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    for (const { key } of requests) this.identify(key);
    return this.#locks.acquireAll(requests);
  }

  async lineOf(key: string): Promise<readonly Contender[]> {
    this.identify(key);
    const lists = this.#locks.queuesOf(key).map((queue) => this.#locks.list(queue, key));
    return (await Promise.all(lists)).flat();
  }

  async holdersOf({ key, of, most, signal }: HoldersQuestion): Promise<readonly Contender[]> {
    this.identify(key);
    const [lock, permits] = this.#locks.queuesOf(key);
    const queue = of === 'key' ? lock : permits;
    if (!queue) return [];
    const line = await this.#locks.list(queue, key, signal);
    return line.filter(({ state }) => state === 'held').slice(0, most);
  }

  survey(question: SurveyQuestion): Promise<Survey> {
    return surveyOf(this.#sessions, question);
  }

  async revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    this.identify(key);
    return this.#locks.revoke(key, options);
  }

  explain(reason: unknown): unknown {
    // While disconnected, this process cannot find out whether another one still holds the key.
    const isCutOff = reason instanceof LockTimeoutError && this.state !== 'connected';
    return isCutOff ? this.#sessions.unavailable(reason.waitMs, reason.key) : reason;
  }

  async close(): Promise<void> {
    await this.#sessions.close();
    this.#report.changes.closed();
  }
}

/**
 * The etcd backend. It checks its options at once. Every application that uses it gets a session of its own.
 * @throws LockConfigurationError that names the wrong field
 */
export function etcd(options: EtcdOptions = {}): LockBackendDefinition {
  const resolved = resolveEtcdOptions(options);
  return { name: 'etcd', create: () => new EtcdBackend(resolved) };
}
