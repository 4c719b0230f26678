import { LockConfigurationError } from '../contract/errors.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { SemaphoreLock } from '../contract/semaphore.js';
import { resolveSemaphoreOptions } from '../contract/semaphore.options.js';
import type { SemaphoreOptions } from '../contract/semaphore.options.js';
import type { Admission } from './admission.js';
import { CountedLock } from './counted-lock.js';
import type { LockTarget } from './lock-target.js';
import { identityOf } from './service-names.js';

/** The semaphores of one connection. */
export class Semaphores {
  readonly #backend: LockBackend;
  readonly #admission: Admission;
  readonly #waitMs: number;

  constructor(backend: LockBackend, admission: Admission, waitMs: number) {
    this.#backend = backend;
    this.#admission = admission;
    this.#waitMs = waitMs;
  }

  lockOn(key: string, options: SemaphoreOptions): SemaphoreLock {
    const size = resolveSemaphoreOptions(options);
    const { permitCounts: counts, name } = this.#backend;
    if (!counts) throw new LockConfigurationError(`the backend "${name}" has no semaphores`, { key });
    if (size.sharedCount !== undefined) this.#backend.identify(size.sharedCount);
    return new CountedLock({ admission: this.#admission, counts }, this.#targetOf(key), size);
  }

  #targetOf(key: string): LockTarget {
    const identity = identityOfPermits(identityOf(this.#backend, key));
    // Callers of one process share nothing here: each permit is a znode of its own.
    const sharing = { localLine: false, keepMs: 0 };
    return { ...sharing, scope: this.#backend, identity, key, mode: 'permit', line: 'fifo', waitMs: this.#waitMs };
  }
}

/** Not the key's own identity: whoever holds a permit does not hold the key. No key ends like this. */
export function identityOfPermits(identity: string): string {
  return `${identity}/`;
}
