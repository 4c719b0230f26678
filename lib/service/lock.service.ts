import type { BackendState, LockBackend } from '../contract/lock-backend.js';
import { check, checkFields } from '../contract/check.js';
import type { Contender } from '../contract/contender.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, ReadWriteLock, UsingOptions } from '../contract/lock.js';
import type { Line } from '../contract/lock-request.js';
import type { RecordStore } from '../contract/record-store.js';
import type { SegmentOptions } from '../contract/segment.options.js';
import { MultiLock } from '../composite/multi-lock.js';
import type { Member } from '../composite/multi-lock.js';
import type { SegmentedLock } from '../composite/segmented-lock.js';
import { Admission } from './admission.js';
import { Candidates } from './candidates.js';
import { withLocalCallers } from './contenders.js';
import { runUnder } from './held-leases.js';
import { Segments } from './segments.js';
import type { LockTarget } from './lock-target.js';
import { resolveSharingOptions, SHARING_DEFAULTS, SHARING_FIELDS } from './sharing.options.js';
import type { SharingOptions } from './sharing.options.js';
import { SingleLock } from './single-lock.js';
import type { SegmentedStock } from '../stock/segmented-stock.js';
import type { StockOptions } from '../stock/stock.options.js';
import { Stocks } from '../stock/stocks.js';

export interface MutexOptions extends SharingOptions {
  /**
   * `'fifo'` (default): contenders stand in line, first come first served. `'none'`: one znode that everybody races
   * for, for try-only use such as cron guards; whoever comes while it is held is told so at once and nobody waits.
   */
  readonly line?: Line;
}

/** What a `LockService` is made with; `LockModule` fills it from its options. */
export interface LockServiceOptions extends SharingOptions {
  readonly connectionName: string;
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly connectOnStart: 'required' | 'background';
}

/**
 * Locks by key, on one connection. Locks are cheap and hold no state: make one where you need it.
 *
 * After a session loss every lease that it granted is `lost` (its signal has aborted) and new acquisitions work as
 * soon as the ensemble does; those that were waiting line up again within their deadline.
 */
export class LockService {
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  /** @internal Who campaigns on this connection. */
  readonly candidates: Candidates;
  private readonly admission: Admission;
  private readonly segments: Segments;
  private readonly stocks: Stocks;
  private readonly sharing: Required<SharingOptions>;

  constructor(
    private readonly backend: LockBackend,
    private readonly options: LockServiceOptions,
  ) {
    this.admission = new Admission(backend);
    this.candidates = new Candidates(backend, this.admission);
    this.sharing = resolveSharingOptions(options, SHARING_DEFAULTS);
    this.segments = new Segments(backend, options.waitMs, (key) => this.mutex(key));
    const lockOn = (key: string, of: SegmentOptions) => this.segments.lockOn(key, of);
    this.stocks = new Stocks({ waitMs: options.waitMs, records: backend.records, lockOn });
  }

  /** The name that this connection was registered under. */
  get connectionName(): string {
    return this.options.connectionName;
  }

  /** What may be assumed of the connection right now. */
  get state(): BackendState {
    return this.backend.state;
  }

  /** @internal What this package remembers beside the locks. */
  get records(): RecordStore {
    return this.backend.records;
  }

  /** One holder at a time. */
  mutex(key: string, options: MutexOptions = {}): Lock {
    checkFields('mutex options', options, ['line', ...SHARING_FIELDS]);
    const { line = 'fifo' } = options;
    check(line === 'fifo' || line === 'none', 'line', line, "'fifo' or 'none'");
    return this.single(key, 'exclusive', line, options);
  }

  /** Many readers or one writer; excludes `mutex` of the same key as well. */
  readWriteLock(key: string, options: SharingOptions = {}): ReadWriteLock {
    checkFields('read-write lock options', options, SHARING_FIELDS);
    return { read: this.single(key, 'read', 'fifo', options), write: this.single(key, 'write', 'fifo', options) };
  }

  /** All of the keys or none, in one fixed order and within one deadline. */
  multi(keys: readonly string[], options: SharingOptions = {}): MultiLock {
    checkFields('multi-lock options', options, SHARING_FIELDS);
    if (!Array.isArray(keys) || keys.length === 0) {
      throw new LockConfigurationError('keys must be an array of at least one key');
    }
    const members = keys.map((key: string) => this.memberOf(key, options));
    return new MultiLock(members, this.options.waitMs, runUnder);
  }

  /**
   * Any one of the segments of the key, or all of them: as many holders at a time as there are segments. Each segment is
   * a lock of its own; none of them excludes `mutex` of the same key.
   */
  segmented(key: string, options: SegmentOptions): SegmentedLock {
    return this.segments.lockOn(key, options);
  }

  /**
   * Units in segments that many buyers take from at once. Without a `store` of your own they are kept beside the locks,
   * and are taken without a lock; with one, each segment is taken from under its lease in `segmented(key, …)`.
   */
  stock(key: string, options: StockOptions): SegmentedStock {
    return this.stocks.stockOf(key, options);
  }

  /**
   * Who holds the key and who waits for it, in order, as it was a moment ago, clients of other kinds included. Callers of
   * this process who share a contender are shown one by one; those of other processes as the contender that they share.
   * @throws LockUnavailableError
   */
  async contenders(key: string): Promise<Contender[]> {
    const identity = this.backend.identify(key);
    const line = await this.backend.lineOf(key);
    return withLocalCallers(line, (mode) =>
      mode === 'permit' ? undefined : this.admission.local.find(mode, identity),
    );
  }

  /** Short for `mutex(key).acquire(options)`. */
  async acquire(key: string, options?: AcquireOptions): Promise<Lease> {
    return this.mutex(key).acquire(options);
  }

  /** Short for `mutex(key).tryAcquire(options)`. */
  async tryAcquire(key: string, options?: AcquireOptions): Promise<Lease | null> {
    return this.mutex(key).tryAcquire(options);
  }

  /** Short for `mutex(key).using(work, options)`. */
  async using<T>(key: string, work: (lease: Lease) => T | Promise<T>, options?: UsingOptions): Promise<T> {
    return this.mutex(key).using(work, options);
  }

  /** @internal Connects before anything that depends on this service starts. */
  async onModuleInit(): Promise<void> {
    const connected = this.backend.connect();
    if (this.options.connectOnStart === 'background') return void connected.catch(() => {});
    // Nest does not shut down what failed to start.
    await connected.catch((error: unknown) => this.backend.close().then(() => Promise.reject(error)));
  }

  /** @internal Requests in flight may finish, and take what is free; nobody stands in line any more. */
  beforeApplicationShutdown(): void {
    this.admission.stopWaiting();
  }

  /** @internal Lets holders finish, then gives everything back and closes the session. */
  async onApplicationShutdown(): Promise<void> {
    await this.admission.drain(this.options.drainTimeoutMs);
    await this.backend.close();
  }

  private memberOf(key: string, options: SharingOptions): Member {
    return { key, identity: this.backend.identify(key), lock: this.mutex(key, options) };
  }

  private single(key: string, mode: LockTarget['mode'], line: Line, sharing: SharingOptions): SingleLock {
    const identity = this.backend.identify(key);
    const waitMs = line === 'none' ? 0 : this.options.waitMs;
    const { localLine, keepMs } = resolveSharingOptions(sharing, this.sharing);
    return new SingleLock(this.admission, {
      scope: this.backend,
      identity,
      key,
      mode,
      line,
      waitMs,
      localLine,
      keepMs,
    });
  }
}
