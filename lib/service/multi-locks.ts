import { inFixedOrder, MultiLock } from '../composite/multi-lock.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { Lock } from '../contract/lock.js';
import type { Admission } from './admission.js';
import { AtomicMultiLock } from './atomic-multi-lock.js';
import type { Targets } from './atomic-multi-lock.js';
import { heldLeases, runUnder } from './held-leases.js';
import type { LockTargets } from './lock-targets.js';
import { resolveMultiOptions } from './multi.options.js';
import type { MultiOptions } from './multi.options.js';
import type { SharingOptions } from './sharing.options.js';

/** What locks on several keys are made of. */
interface MultiLockParts {
  readonly backend: LockBackend;
  readonly admission: Admission;
  readonly targets: LockTargets;
  /** How long callers wait unless they say, in milliseconds. */
  readonly waitMs: number;
  readonly lockOn: (key: string, options: SharingOptions) => Lock;
}

/** The locks on several keys at a time, of one connection. */
export class MultiLocks {
  readonly #parts: MultiLockParts;

  constructor(parts: MultiLockParts) {
    this.#parts = parts;
  }

  /** @throws LockConfigurationError that names the wrong field */
  lockOn(keys: readonly string[], options: MultiOptions): MultiLock | AtomicMultiLock {
    const { backend, admission, targets, waitMs, lockOn } = this.#parts;
    const { atomic, ...sharing } = resolveMultiOptions(keys, options, backend);
    const members = keys.map((key) => ({ key, identity: backend.identify(key), lock: lockOn(key, sharing) }));
    const inOrder = new MultiLock(members, waitMs, { enclose: runUnder, heldLeases });
    if (!atomic) return inOrder;
    const wanted = inFixedOrder(members).map(({ key }) => targets.of(key, 'exclusive', 'fifo', sharing));
    return new AtomicMultiLock(admission, wanted as unknown as Targets, inOrder);
  }
}
