import type { BackendState, LockBackend } from '../contract/lock-backend.js';
import { check, checkFields } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import type { AcquireOptions, Lock, ReadWriteLock, UsingOptions } from '../contract/lock.js';
import type { Line } from '../contract/lock-request.js';
import { MultiLock } from '../composite/multi-lock.js';
import { Admission } from './admission.js';
import { runUnder } from './held-leases.js';
import { SingleLock } from './single-lock.js';

export interface MutexOptions {
  /**
   * `'fifo'` (default): contenders stand in line, first come first served. `'none'`: one znode that everybody races
   * for, for try-only use such as cron guards; whoever comes while it is held is told so at once and nobody waits.
   */
  readonly line?: Line;
}

/** What a `LockService` is made with; `LockModule` fills it from its options. */
export interface LockServiceOptions {
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
  private readonly admission: Admission;

  constructor(
    private readonly backend: LockBackend,
    private readonly options: LockServiceOptions,
  ) {
    this.admission = new Admission(backend);
  }

  /** The name that this connection was registered under. */
  get connectionName(): string {
    return this.options.connectionName;
  }

  /** What may be assumed of the connection right now. */
  get state(): BackendState {
    return this.backend.state;
  }

  /** One holder at a time. */
  mutex(key: string, options: MutexOptions = {}): Lock {
    checkFields('mutex options', options, ['line']);
    const { line = 'fifo' } = options;
    check(line === 'fifo' || line === 'none', 'line', line, "'fifo' or 'none'");
    return this.single(key, 'exclusive', line);
  }

  /** Many readers or one writer; excludes `mutex` of the same key as well. */
  readWriteLock(key: string): ReadWriteLock {
    return { read: this.single(key, 'read', 'fifo'), write: this.single(key, 'write', 'fifo') };
  }

  /** All of the keys or none, in one fixed order and within one deadline. */
  multi(keys: readonly string[]): MultiLock {
    if (!Array.isArray(keys) || keys.length === 0) {
      throw new LockConfigurationError('keys must be an array of at least one key');
    }
    const members = keys.map((key: string) => ({ key, identity: this.backend.identify(key), lock: this.mutex(key) }));
    return new MultiLock(members, this.options.waitMs, runUnder);
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

  private single(key: string, mode: 'exclusive' | 'read' | 'write', line: Line): SingleLock {
    const identity = this.backend.identify(key);
    const waitMs = line === 'none' ? 0 : this.options.waitMs;
    return new SingleLock(this.admission, { scope: this.backend, identity, key, mode, line, waitMs });
  }
}
