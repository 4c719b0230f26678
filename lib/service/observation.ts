import { Logger } from '@nestjs/common';
import { now } from '../async/clock.js';
import { channels } from '../contract/channels.js';
import type {
  EventOrigin,
  HoldEvent,
  LeaseOverdueEvent,
  LockKind,
  MissReason,
  ObservedRequest,
  WorkWrapper,
} from '../contract/channels.js';
import { LockShutdownError, LockTimeoutError, LockUnavailableError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import { handOverOf } from '../contract/granted-lease.js';
import type { GrantedLease, LeaseFollower } from '../contract/granted-lease.js';
import type { Lease } from '../contract/lease.js';
import type { LockRequest } from '../contract/lock-request.js';

/** The target of an acquisition, as far as observers see it. */
export interface ObservedTarget extends Pick<LockRequest, 'key' | 'mode' | 'line' | 'permits'> {
  readonly kind?: LockKind | undefined;
}

/** The caller's part of an acquisition, as far as observers see it. */
interface ObservedCaller {
  readonly label?: string | undefined;
  readonly waitMs: number;
}

/**
 * One acquisition that is observed. It publishes the events from the start of the acquisition to the end of its lease.
 * It exists only if `request.start` has a subscriber, so nothing else costs anything.
 */
export class Observation implements LeaseFollower {
  readonly #origin: EventOrigin;
  readonly #request: ObservedRequest;
  /** The time of the start; after the grant, the time of the grant. */
  #since = now();
  #lease: GrantedLease | undefined;

  private constructor(origin: EventOrigin, request: ObservedRequest) {
    this.#origin = origin;
    this.#request = request;
  }

  /** Publishes the start of an acquisition. To be called in the async context of the caller. */
  static start(origin: EventOrigin, target: ObservedTarget, { label, waitMs }: ObservedCaller): Observation {
    const { key, kind = 'lock', mode, line, permits } = target;
    const request = { key, name: label ?? 'unnamed', label, kind, mode, line, permits: permits?.count, waitMs };
    const observation = new Observation(origin, request);
    channels.requestStart.publish(observation.#about());
    return observation;
  }

  /** Publishes the grant, and follows the lease from now on. To be called before the caller's code runs. */
  granted(lease: GrantedLease): void {
    const grantedAt = now();
    const waitedMs = grantedAt - this.#since;
    this.#since = grantedAt;
    this.#lease = lease;
    lease.observer = this;
    if (channels.requestGrant.hasSubscribers) {
      const origin = this.#origin;
      const { connection } = origin;
      const handOver = handOverOf(lease.fencingToken);
      channels.requestGrant.publish({ connection, origin, request: this.#request, lease, waitedMs, handOver });
    }
    const { state } = lease;
    if (state === 'suspended') this.suspend();
    if (state === 'revoking' || state === 'lost') this.ending(state, lease.signal.reason as LockError);
  }

  /**
   * Publishes the end of an acquisition that was not granted.
   * @param error error that the caller gets; `undefined`: the key was held, and the caller did not wait
   * @param isGivenUp whether the error is the reason of the caller's own signal
   */
  missed(error: unknown, isGivenUp = false): void {
    this.#miss(reasonOf(error, isGivenUp), error);
  }

  /** Publishes that the time of an acquisition ran out, and that its caller gets no error for it. */
  ranOut(): void {
    this.#miss('timeout', undefined);
  }

  /**
   * Publishes the start of another acquisition by the same call, which has waited for as long. To be called before the
   * grant of this one.
   */
  another(): Observation {
    const other = new Observation(this.#origin, { ...this.#request });
    other.#since = this.#since;
    channels.requestStart.publish(other.#about());
    return other;
  }

  suspend(): void {
    if (channels.leaseSuspended.hasSubscribers) channels.leaseSuspended.publish(this.#aboutLease());
  }

  resume(): void {
    if (channels.leaseResumed.hasSubscribers) channels.leaseResumed.publish(this.#aboutLease());
  }

  /** Before the signal aborts: its listeners may give the lease back at once, and the end comes last. */
  ending(state: 'revoking' | 'lost', error: LockError): void {
    const channel = state === 'lost' ? channels.leaseLost : channels.leaseRevoking;
    if (channel.hasSubscribers) channel.publish({ ...this.#aboutLease(), error });
  }

  revoke(): void {}

  lose(): void {}

  overdue(limit: LeaseOverdueEvent['limit'], limitMs: number): void {
    if (!channels.leaseOverdue.hasSubscribers) return;
    channels.leaseOverdue.publish({ ...this.#aboutLease(), limit, limitMs });
  }

  /** The lease is about to be given back, so that no other caller of this process is granted it before this event. */
  releasing(): void {
    if (!channels.requestEnd.hasSubscribers) return;
    const origin = this.#origin;
    const { connection } = origin;
    const lease = this.#lease as GrantedLease;
    const { state } = lease;
    const heldMs = now() - this.#since;
    channels.requestEnd.publish({ connection, origin, request: this.#request, lease, heldMs, state });
  }

  /** Runs the work under the lease, inside what subscribers put around it. */
  hold<T>(work: () => T): T {
    const hold = new Hold(this.#origin, this.#request, this.#aboutLease().lease);
    channels.hold.publish(hold);
    return hold.run(work);
  }

  #miss(reason: MissReason, error: unknown): void {
    if (!channels.requestMiss.hasSubscribers) return;
    channels.requestMiss.publish({ ...this.#about(), waitedMs: now() - this.#since, reason, error });
  }

  /** Not for grants and ends, which come with every call: copying fields costs more than naming them. */
  #about() {
    return { connection: this.#origin.connection, origin: this.#origin, request: this.#request };
  }

  #aboutLease() {
    return { ...this.#about(), lease: this.#lease as GrantedLease };
  }
}

/** Publishes that none of these acquisitions was granted. Returns the error, for the caller to throw. */
export function missed<E>(observations: readonly (Observation | undefined)[], error: E, isGivenUp = false): E {
  for (const observation of observations) observation?.missed(error, isGivenUp);
  return error;
}

function reasonOf(error: unknown, isGivenUp: boolean): MissReason {
  if (error === undefined) return 'busy';
  if (error instanceof LockShutdownError) return 'shutdown';
  if (error instanceof LockTimeoutError) return 'timeout';
  if (error instanceof LockUnavailableError) return 'unavailable';
  return isGivenUp ? 'aborted' : 'error';
}

/** Runs the work under a lease, inside what subscribers of `hold` put around it. */
export function observedWork<T>(lease: Lease, work: () => T): T {
  const { observer } = lease as Partial<GrantedLease>;
  return observer instanceof Observation ? observer.hold(work) : work();
}

/** The event of work that is about to begin. */
class Hold implements HoldEvent {
  readonly connection: string;
  readonly #wrappers: WorkWrapper[] = [];

  constructor(
    readonly origin: EventOrigin,
    readonly request: ObservedRequest,
    readonly lease: Lease,
  ) {
    this.connection = origin.connection;
  }

  around(wrapper: WorkWrapper): void {
    this.#wrappers.push(wrapper);
  }

  run<T>(work: () => T): T {
    return this.#wrappers.reduceRight<() => T>((inner, wrapper) => () => wrapped(wrapper, inner), work)();
  }
}

const logger = new Logger('LockEvents');
let hasWarned = false;

/** Runs the work inside the wrapper once, whatever the wrapper does, and returns the result of the work. */
function wrapped<T>(wrapper: WorkWrapper, work: () => T): T {
  let outcome: (() => T) | undefined;
  const once = () => (outcome ??= outcomeOf(work))();
  try {
    wrapper(once);
  } catch (error) {
    // The work's own error is thrown below.
    if (!outcome) warnOnce(error);
  }
  return once();
}

/** Every call under a lock may fail like this, so one log entry has to do. */
function warnOnce(error: unknown): void {
  if (hasWarned) return;
  hasWarned = true;
  logger.warn(`a subscriber of "hold" could not wrap the work under a lease, and was left out: ${String(error)}`);
}

/** Runs the work, and returns a function that returns its result or throws its error. */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
