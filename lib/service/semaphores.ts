import { LockConfigurationError } from '../contract/errors.js';
import type { HoldingOptions } from '../contract/holding.options.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { SemaphoreLock } from '../contract/semaphore.js';
import { resolveSemaphoreOptions } from '../contract/semaphore.options.js';
import type { SemaphoreOptions } from '../contract/semaphore.options.js';
import type { Admission } from './admission.js';
import { CountedLock } from './counted-lock.js';
import type { Keys } from './keys.js';
import type { LockTarget } from './lock-target.js';
import type { LockTargets } from './lock-targets.js';

/** The semaphores of one connection. */
export class Semaphores {
  readonly #backend: LockBackend;
  readonly #keys: Keys;
  readonly #admission: Admission;
  readonly #targets: LockTargets;
  readonly #waitMs: number;

  constructor(backend: LockBackend, keys: Keys, admission: Admission, targets: LockTargets, waitMs: number) {
    this.#backend = backend;
    this.#keys = keys;
    this.#admission = admission;
    this.#targets = targets;
    this.#waitMs = waitMs;
  }

  lockOn(key: string, options: SemaphoreOptions): SemaphoreLock {
    const size = resolveSemaphoreOptions(options);
    const { permitCounts: counts, name } = this.#backend;
    if (!counts) throw new LockConfigurationError(`the backend "${name}" has no semaphores`, { key });
    if (size.sharedCount !== undefined) this.#keys.identify(size.sharedCount);
    return new CountedLock({ admission: this.#admission, counts }, this.#targetOf(key, size), size);
  }

  #targetOf(key: string, options: HoldingOptions): LockTarget {
    const scope = this.#backend;
    const identity = identityOfPermits(this.#keys.identify(key));
    const holding = this.#targets.holdingOf(options);
    const { onLost } = this.#targets;
    // Callers of one process share nothing here: each permit is a znode of its own.
    const sharing = { localLine: false, keepMs: 0 };
    return { ...sharing, scope, identity, key, mode: 'permit', line: 'fifo', waitMs: this.#waitMs, onLost, holding };
  }
}

/** Not the key's own identity: whoever holds a permit does not hold the key. No key ends like this. */
export function identityOfPermits(identity: string): string {
  return `${identity}/`;
}
