import { Logger } from '@nestjs/common';
import { after, nextTurn } from '../async/timer.js';
import { channels } from '../contract/channels.js';
import type { EventOrigin } from '../contract/channels.js';
import { guaranteesText } from '../contract/backend-guarantees.js';
import type { BackendState, LockBackend } from '../contract/lock-backend.js';
import { checkFields, checkWork } from '../contract/check.js';
import { HOLDING_FIELDS } from '../contract/acquire.options.js';
import type { HoldingOptions } from '../contract/acquire.options.js';
import type { Contender } from '../contract/contender.js';
import { LockShutdownError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, ReadWriteLock, UsingOptions } from '../contract/lock.js';
import type { SegmentOptions } from '../contract/segment.options.js';
import type { MultiLock } from '../composite/multi-lock.js';
import type { SegmentedLock } from '../composite/segmented-lock.js';
import type { RevokeOptions } from '../contract/revoke.options.js';
import type { SemaphoreLock, SemaphoreOptions } from '../contract/semaphore.options.js';
import { AcquisitionGate } from './acquisition-gate.js';
import type { AtomicMultiLock, MultiOptions } from './multi-locks.js';
import { placed } from './hold-watch.js';
import { LockEvents } from './lock-events.js';
import { GlobalTransaction } from './global-transaction.js';
import type { GlobalTransactionOptions } from './global-transaction.js';
import { withLocalCallers, revokeKey } from './contenders.js';
import { MultiLocks } from './multi-locks.js';
import { Segments } from './segments.js';
import { Semaphores } from './semaphores.js';
import { DEFAULT_CONNECTION } from './connection-token.js';
import { SHARING_FIELDS } from './lock-service.options.js';
import { LockConnection } from './lock-connection.js';
import type { LockServiceOptions, MutexOptions, SharingOptions } from './lock-service.options.js';
import { SingleLock } from './single-lock.js';
import { Surveys } from './survey.js';
import type { LockSurvey, SurveyOptions } from './survey.js';
import type { SegmentedStock } from '../stock/segmented-stock.js';
import type { StockOptions } from '../stock/stock.options.js';
import { Stocks } from '../stock/stocks.js';

/** Returns the connection of a service, for the other services of this package. Users of the package cannot reach it. */
export let connectionOf: (locks: LockService) => LockConnection;

/** A start that takes longer than this is logged. */
const SLOW_START_MS = 2_000;

/**
 * Locks by key, on one connection. Locks are cheap and hold no state: make one where you need it. After a session loss
 * every lease that it granted is `lost` (its signal has aborted). New acquisitions work as soon as the ensemble does.
 * Waiting acquisitions queue again within their deadline.
 */
export class LockService {
  // No #private members here: Nest may be configured to put its providers behind a Proxy, which has none.
  private readonly connection: LockConnection;
  private readonly logger: Logger;
  private readonly lockEvents: LockEvents;
  private readonly segments: Segments;
  private readonly semaphores: Semaphores;
  private readonly stocks: Stocks;
  private readonly multiLocks: MultiLocks;
  private readonly surveys: Surveys;

  static {
    connectionOf = (locks) => locks.connection;
  }

  constructor(
    backend: LockBackend,
    options: LockServiceOptions,
    gate = new AcquisitionGate(backend, options.connectionName),
  ) {
    const { connectionName } = options;
    this.logger = new Logger(connectionName === DEFAULT_CONNECTION ? 'LockService' : `LockService:${connectionName}`);
    backend.logTo?.(this.logger);
    const connection = new LockConnection(backend, options, gate, this.logger);
    this.connection = connection;
    this.lockEvents = new LockEvents(connection.origin);
    backend.observe?.((change) => {
      connection.stateChanged();
      if (!channels.session.hasSubscribers) return;
      const { origin } = connection;
      channels.session.publish({ connection: origin.connection, origin, ...change });
    });
    this.multiLocks = new MultiLocks(connection);
    this.surveys = new Surveys(connection);
    this.segments = new Segments(connection);
    this.semaphores = new Semaphores(connection);
    this.stocks = new Stocks({
      waitMs: options.waitMs,
      waitMsOf: (waitMs) => gate.waitMsOf(waitMs),
      records: backend.records,
      origin: connection.origin,
      warnOfLoss: (what) => connection.warnOfLoss(what),
      lockOn: (...of) => this.segmented(...of),
    });
  }

  /** The name that this connection was registered under. */
  get connectionName(): string {
    return this.connection.options.connectionName;
  }

  /**
   * The origin of this service's events, on every channel of `nestjs-distributed-lock:…`. It is one frozen object, so
   * compare it: `event.origin === locks.origin`. The service itself may be behind a Proxy.
   */
  get origin(): EventOrigin {
    return this.connection.origin;
  }

  /** The events of this connection, for listeners. See [observability](../../docs/observability.md). */
  get events(): LockEvents {
    return this.lockEvents;
  }

  /** The state of the connection, which says what may be assumed of it right now. */
  get state(): BackendState {
    return this.connection.stateNow.state;
  }

  /** Returns a lock with one holder at a time. */
  mutex(key: string, options?: MutexOptions): Lock {
    const { gate, targets } = this.connection;
    return new SingleLock(gate, targets.of(key, 'exclusive', options));
  }

  /** Returns a lock with many readers or one writer. It excludes `mutex` of the same key as well. */
  readWriteLock(key: string, options: SharingOptions & HoldingOptions = {}): ReadWriteLock {
    checkFields('read-write lock options', options, [...SHARING_FIELDS, ...HOLDING_FIELDS]);
    const { gate, targets } = this.connection;
    const on = (mode: 'read' | 'write') => new SingleLock(gate, targets.of(key, mode, options));
    return { read: on('read'), write: on('write') };
  }

  /**
   * Returns a lock on all of the keys or none, within one deadline. They are acquired one after another in a fixed
   * order, or with `atomic` at once.
   */
  multi(keys: readonly string[], options: MultiOptions = {}): MultiLock | AtomicMultiLock {
    return this.multiLocks.lockOn(keys, options);
  }

  /**
   * Returns a lock with as many holders at a time as there are permits. Excludes neither `mutex` nor `readWriteLock` of
   * the same key.
   * @throws LockConfigurationError also when the backend has no semaphores
   */
  semaphore(key: string, options: SemaphoreOptions): SemaphoreLock {
    return this.semaphores.lockOn(key, options);
  }

  /**
   * Returns a lock on any one of the segments of the key, or on all of them: as many holders at a time as there are
   * segments. Each segment is a lock of its own; none of them excludes `mutex` of the same key.
   */
  segmented(key: string, options: SegmentOptions): SegmentedLock {
    return this.segments.lockOn(key, options);
  }

  /**
   * Returns a stock: units in segments that many buyers take from at once. Without a `store` of your own, the units are
   * kept beside the locks, and are taken without a lock. With one, each segment is taken from under its lease in
   * `segmented(key, …)`.
   */
  stock(key: string, options: StockOptions): SegmentedStock {
    return this.stocks.stockOf(key, options);
  }

  /**
   * Returns the holders of the key and the waiting contenders, in order, as of a moment ago, including other kinds of
   * clients. Callers of this process that share a contender are listed one by one. Those of other processes are listed
   * as the contender that they share.
   * @throws LockUnavailableError
   */
  async contenders(key: string): Promise<Contender[]> {
    const { backend, gate } = this.connection;
    const identity = backend.identify(key);
    const line = await backend.lineOf(key);
    return withLocalCallers(line, (mode) => gate.local.find(mode, identity));
  }

  /**
   * Returns what is held and waited for in the whole cluster, as of a moment ago and within bounds. It takes no lock and
   * leaves no watch. One survey runs at a time, and its answer is used again for a second. Callers of this process are
   * listed as by `contenders`, behind the contenders that are listed.
   * @throws LockUnavailableError; LockConfigurationError also when the backend has no survey; `options.signal.reason`
   */
  async survey(options: SurveyOptions = {}): Promise<LockSurvey> {
    return this.surveys.ask(options);
  }

  /**
   * Asks all holders of the key to release it, including readers and holders of permits. Their leases become
   * `revoking`, and their signals abort with a `LockRevokedError`. If a holder has not released the key within
   * `graceMs`, its lease is `lost`, and the next contender acquires. Resolves when all holders are gone; at once when
   * the key is not held. A holder that lost its lease by force may not know it yet: only fencing tokens stop it, see
   * [revocation](../../docs/recipes/revocation.md).
   * @throws LockReentrancyError at once inside a decorated method or the work of `using` that holds the key;
   *   LockUnavailableError, LockConfigurationError when the backend cannot revoke, `options.signal.reason`
   */
  async revoke(key: string, options: RevokeOptions = {}): Promise<void> {
    await revokeKey(this.connection, key, options);
  }

  /** Short for `mutex(key).acquire(options)`. */
  async acquire(key: string, options?: AcquireOptions): Promise<Lease> {
    return this.mutex(key).acquire(placed(options, this.connection.targets, this, 'acquire'));
  }

  /** Short for `mutex(key).tryAcquire(options)`. */
  async tryAcquire(key: string, options?: AcquireOptions): Promise<Lease | null> {
    return this.mutex(key).tryAcquire(placed(options, this.connection.targets, this, 'tryAcquire'));
  }

  /** Short for `mutex(key).using(work, options)`. */
  async using<T>(key: string, work: (lease: Lease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    return this.mutex(key).using(work, placed(options, this.connection.targets, this, 'using'));
  }

  /**
   * Runs `work` as a transaction over several stores. Its rows stay locked until `work` has resolved, or until every
   * branch has been rolled back. They are released together. See
   * [global locks](../../docs/global-locks.md).
   *
   * - Two transactions exclude each other on a row from the first `lock` of it until the end of the whole transaction.
   * - When `work` rejects, its branches are rolled back, the latest first.
   * - When a lease is lost meanwhile, the transaction is not committed: its branches are rolled back, and it rejects.
   * @throws what `work` throws, untouched; LockTimeoutError and the others of `GlobalTransaction.lock`; LockLostError
   *   after `work` has ended, when a lease was lost; LockConfigurationError that names the wrong option
   */
  async globalTransaction<T>(
    work: (transaction: GlobalTransaction) => T | Promise<T>,
    options: GlobalTransactionOptions = {},
  ): Promise<T> {
    checkWork(work, 'globalTransaction(async (transaction) => …)');
    const { targets, waitMs } = this.connection;
    const targetOf = (key: string) => targets.of(key, 'exclusive');
    const lockOn = (keys: readonly string[]) => this.multi(keys);
    return new GlobalTransaction({ waitMs, targetOf, lockOn }, options).run(work);
  }

  /** Called by Nest. Connects before anything that depends on this service starts. */
  async onModuleInit(): Promise<void> {
    const { backend, options } = this.connection;
    const connected = backend.connect();
    this.tellIfSlow(connected);
    connected.then(
      () => this.tellGuarantees(),
      () => {},
    );
    if (options.connectOnStart === 'background') {
      return void connected.catch((error: unknown) => this.notConnected(error));
    }
    // Nest does not shut down an application that failed to start.
    await connected.catch(async (error: unknown) => {
      const closed = options.closeAll?.() ?? this.onApplicationShutdown();
      // An error in closing would hide why the start has failed.
      await closed.catch(() => {});
      throw error;
    });
  }

  /**
   * Called by Nest. Requests in flight may finish, and acquire locks that are free. No caller waits any more. Nest then
   *   closes its servers, which wait for open requests, so the holders' time to finish begins before that.
   */
  beforeApplicationShutdown(): void {
    const { gate, options } = this.connection;
    gate.stopWaiting(options.drainTimeoutMs);
  }

  /** Called by Nest. Waits for holders to finish, then releases everything and closes the session. */
  async onApplicationShutdown(): Promise<void> {
    const { gate, backend, losses, options } = this.connection;
    await gate.drain(options.drainTimeoutMs);
    losses.close();
    await backend.close();
    // Calls that end with the connection, such as that of a taker, publish their ends first.
    await nextTurn();
    this.lockEvents.close();
  }

  /** Logs a slow start before it fails. */
  private tellIfSlow(connected: Promise<void>): void {
    const cancel = after(SLOW_START_MS, () =>
      this.logger.warn(`${this.connection.backend.name}: no server has answered yet, still trying`),
    );
    connected.then(cancel, cancel);
  }

  private tellGuarantees(): void {
    const { name, guarantees } = this.connection.backend;
    if (guarantees) this.logger.log(guaranteesText(name, guarantees));
  }

  private notConnected(error: unknown): void {
    if (error instanceof LockShutdownError) return;
    this.logger.warn(
      `no connection yet: ${messageOf(error)}. The application runs without locks until a server answers`,
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
