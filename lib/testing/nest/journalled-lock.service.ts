import type { LockBackend } from '../../contract/lock-backend.js';
import type { LeaseMode } from '../../contract/lease.js';
import type { Lock, ReadWriteLock } from '../../contract/lock.js';
import type { SemaphoreLock } from '../../contract/semaphore.js';
import type { SemaphoreOptions } from '../../contract/semaphore.options.js';
import { LockService } from '../../service/lock.service.js';
import type { LockServiceOptions, MutexOptions } from '../../service/lock-service.options.js';
import type { SharingOptions } from '../../service/sharing.options.js';
import type { Journal } from './journal.js';
import { JournalledLock } from './journalled-lock.js';
import { JournalledSemaphore } from './journalled-semaphore.js';

export interface JournalledLockServiceOptions extends LockServiceOptions {
  readonly journal: Journal;
  readonly longestWaitMs: number;
}

/** The `LockService` of a test: in everything the application's, and it writes down what is locked. */
export class JournalledLockService extends LockService {
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  constructor(
    backend: LockBackend,
    private readonly journalled: JournalledLockServiceOptions,
  ) {
    super(backend, journalled);
  }

  // Several keys, segments and stocks are made of these.
  override mutex(key: string, options?: MutexOptions): Lock {
    const lock = super.mutex(key, options);
    return this.written(lock, key, 'exclusive', options?.line === 'none' ? 0 : this.journalled.waitMs);
  }

  override readWriteLock(key: string, options?: SharingOptions): ReadWriteLock {
    const { read, write } = super.readWriteLock(key, options);
    const { waitMs } = this.journalled;
    return { read: this.written(read, key, 'read', waitMs), write: this.written(write, key, 'write', waitMs) };
  }

  override semaphore(key: string, options: SemaphoreOptions): SemaphoreLock {
    const { waitMs, longestWaitMs, journal } = this.journalled;
    const seat = { key, mode: 'permit', waitMs, longestWaitMs } as const;
    return new JournalledSemaphore(super.semaphore(key, options), seat, journal);
  }

  private written(lock: Lock, key: string, mode: LeaseMode, waitMs: number): Lock {
    const { longestWaitMs, journal } = this.journalled;
    return new JournalledLock(lock, { key, mode, waitMs, longestWaitMs }, journal);
  }
}
