import { inFixedOrder, MultiLock } from '../composite/multi-lock.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { Admission } from './admission.js';
import { AtomicMultiLock } from './atomic-multi-lock.js';
import type { Targets } from './atomic-multi-lock.js';
import { callScope } from './call-scope.js';
import type { LockTargets } from './lock-targets.js';
import { resolveMultiOptions } from './multi.options.js';
import type { MultiOptions } from './multi.options.js';
import { SingleLock } from './single-lock.js';

/** What locks on several keys are made of. */
interface MultiLockParts {
  readonly backend: LockBackend;
  readonly admission: Admission;
  readonly targets: LockTargets;
  /** How long callers wait unless they say, in milliseconds. */
  readonly waitMs: number;
}

/** The locks on several keys at a time, of one connection. */
export class MultiLocks {
  readonly #parts: MultiLockParts;

  constructor(parts: MultiLockParts) {
    this.#parts = parts;
  }

  /** @throws LockConfigurationError that names the wrong field */
  lockOn(keys: readonly string[], options: MultiOptions): MultiLock | AtomicMultiLock {
    const { backend, admission, targets, waitMs } = this.#parts;
    const { atomic, ...others } = resolveMultiOptions(keys, options, backend);
    const holding = targets.holdingOf(others);
    const members = keys.map((key) => {
      const target = targets.ofMember(key, 'exclusive', 'fifo', others);
      return {
        key,
        identity: target.identity,
        lock: new SingleLock(admission, target),
        target: { ...target, holding },
      };
    });
    const inOrder = new MultiLock(members, waitMs, callScope(admission.holds, { holding }));
    if (!atomic) return inOrder;
    const wanted = inFixedOrder(members).map(({ target }) => target);
    return new AtomicMultiLock(admission, wanted as unknown as Targets, inOrder);
  }
}
