import type { LockBackend } from '../contract/lock-backend.js';
import type { Line } from '../contract/lock-request.js';
import type { Lock } from '../contract/lock.js';
import { AcquisitionGate } from './acquisition-gate.js';
import type { LockServiceOptions } from './lock-service.options.js';
import { LockTargets } from './lock-targets.js';
import { Keys, ServiceNames } from './service-names.js';
import { SingleLock } from './single-lock.js';

/** The parts of one connection: what its locks, jobs, elections, queues and barriers are made of. */
export class LockConnection {
  /** Checks every key, and returns its identity in the backend. */
  readonly keys: Keys;
  /** The keys of names that belong to one service. */
  readonly names: ServiceNames;
  readonly targets: LockTargets;

  /** @throws LockConfigurationError that names the wrong option */
  constructor(
    readonly backend: LockBackend,
    readonly options: LockServiceOptions,
    readonly gate: AcquisitionGate,
    warn: (message: string) => void,
  ) {
    gate.warnTo(warn);
    this.keys = new Keys(backend, warn);
    this.names = new ServiceNames(backend, this.keys, options);
    this.targets = new LockTargets(backend, this.keys, this.names, options);
  }

  /** Time that a call waits by default, in milliseconds. */
  get waitMs(): number {
    return this.options.waitMs;
  }

  /** Returns the lock of a job of this service. No key has the same lock. */
  jobLock(key: string, line: Line, usedBy?: string): Lock {
    return new SingleLock(this.gate, this.targets.ofJob(key, line, usedBy));
  }
}
