import { now } from '../async/clock.js';
import type { EventOrigin } from '../contract/channels.js';
import type { BackendState, LockBackend } from '../contract/lock-backend.js';
import type { Line } from '../contract/lock-request.js';
import type { Lock } from '../contract/lock.js';
import { AcquisitionGate } from './acquisition-gate.js';
import type { LeaseLog } from './ended-leases.js';
import type { LockServiceOptions } from './lock-service.options.js';
import { LockTargets } from './lock-targets.js';
import { LossRecorder } from './recorded-losses.js';
import { Keys, ServiceNames } from './service-names.js';
import { SingleLock } from './single-lock.js';

/** The parts of one connection: what its locks, jobs, elections, queues and barriers are made of. */
export class LockConnection {
  /** Checks every key, and returns its identity in the backend. */
  readonly keys: Keys;
  /** The keys of names that belong to one service. */
  readonly names: ServiceNames;
  readonly targets: LockTargets;
  /** The origin of the events of this connection. */
  readonly origin: EventOrigin;
  /** Records lost leases for the whole cluster. */
  readonly losses: LossRecorder;
  readonly #log: LeaseLog;
  #hasWarnedOfLoss = false;
  #state: BackendState | undefined;
  #stateSince = now();

  /** @throws LockConfigurationError that names the wrong option */
  constructor(
    readonly backend: LockBackend,
    readonly options: LockServiceOptions,
    readonly gate: AcquisitionGate,
    log: LeaseLog,
  ) {
    this.#log = log;
    this.origin = gate.origin;
    this.losses = new LossRecorder(backend, options.service, (message) => log.warn(message));
    gate.reportTo(log, (...losses) => this.losses.add(...losses));
    this.keys = new Keys(backend, (message) => log.warn(message));
    this.names = new ServiceNames(backend, this.keys, options);
    this.targets = new LockTargets(backend, this.keys, this.names, options);
  }

  /**
   * The state of the connection, and the time for which it has been in it. Asks no server. Servers that are out of reach
   * cannot say that a session is over. So a connection that is suspended for its session timeout counts as lost.
   */
  get stateNow(): { readonly state: BackendState; readonly sinceMs: number } {
    const { state } = this.backend;
    // A backend need not tell its changes. They are noticed here then.
    if (this.#state !== state) this.stateChanged();
    const sinceMs = now() - this.#stateSince;
    const leftMs = (this.backend.vitals?.().sessionTimeoutMs ?? Infinity) - sinceMs;
    return state === 'suspended' && leftMs <= 0 ? { state: 'lost', sinceMs: -leftMs } : { state, sinceMs };
  }

  /** To be called when the connection has changed its state. */
  stateChanged(): void {
    this.#state = this.backend.state;
    this.#stateSince = now();
  }

  /** Time that a call waits by default, in milliseconds. */
  get waitMs(): number {
    return this.options.waitMs;
  }

  /**
   * Warns once if the servers can forget applied writes, and there are settings against it. @param what what was called
   */
  warnOfLoss(what: string): void {
    if (this.#hasWarnedOfLoss || this.backend.guarantees?.records !== 'may be lost') return;
    this.#hasWarnedOfLoss = true;
    // The settings of a server are known once it has answered.
    this.backend.connect().then(
      () => this.#adviseAgainstLoss(what),
      () => (this.#hasWarnedOfLoss = false),
    );
  }

  #adviseAgainstLoss(what: string): void {
    const { name, guarantees } = this.backend;
    if (guarantees?.records !== 'may be lost' || guarantees.advice.length === 0) return;
    this.#log.warn(
      `${what}: the ${name} server can forget writes, so what was sold or taken may come back, and what was put may ` +
        `be gone: ${guarantees.advice.join('; ')}`,
    );
  }

  /** Returns the lock of a job of this service. No key has the same lock. */
  jobLock(key: string, line: Line, usedBy?: string): Lock {
    return new SingleLock(this.gate, this.targets.ofJob(key, line, usedBy));
  }
}
