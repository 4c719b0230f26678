import { onAbort, OwnAbortController } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { LinkedList } from '../async/collections.js';
import type { Place } from '../async/collections.js';
import { deferred } from '../async/deferred.js';
import { WaitTimer } from '../async/timer.js';
import { channels } from '../contract/channels.js';
import type { EventOrigin } from '../contract/channels.js';
import { lockedBy } from '../contract/contender.js';
import type { Contender } from '../contract/contender.js';
import { LockShutdownError, LockTimeoutError } from '../contract/errors.js';
import type { GrantedLease, LossListener } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { failureOf, requestOf } from '../contract/lock-request.js';
import type { CallerRequest, GivingUpListener } from '../contract/lock-request.js';
import { LocalQueues } from '../local/local-queues.js';
import { DEFAULT_CONNECTION } from './connection-token.js';
import { heldLock } from './hold-scope.js';
import { HoldWatch } from './hold-watch.js';
import type { HeldTarget, HolderDetails } from './hold-watch.js';
import { Holders } from './holders.js';
import { missed, Observation } from './observation.js';
import { setOf } from './lock-targets.js';
import type { LockTarget } from './lock-targets.js';
import { drained, LostLeases } from './ended-leases.js';
import type { LeaseLog, LossesListener } from './ended-leases.js';

/** The caller's options of one acquisition. */
export interface AcquisitionOptions extends HolderDetails {
  /** Total time that the caller waits, in milliseconds. */
  readonly waitMs: number;
  /** Remaining part of `waitMs`, in milliseconds. */
  readonly leftMs: number;
  readonly signal: AbortSignal | undefined;
  readonly label: string | undefined;
  /** Whether the caller releases the lease itself. It might not release a lost one, so the gate does. */
  readonly isHandle: boolean;
}

/** The parameters of an observation, besides its origin. */
type ObservedAs = Parameters<typeof Observation.start> extends [EventOrigin, ...infer Rest] ? Rest : never;

/** Details of the holder of an admitted lease. */
type Holder = HolderDetails & Pick<AcquisitionOptions, 'isHandle'>;

/**
 * The gate between callers and a backend, with three states:
 * - open;
 * - after `stopWaiting`: a free lock is still granted, but no caller waits;
 * - after `drain`: nothing is granted.
 */
export class AcquisitionGate {
  /** Detects leases that are held for too long. */
  readonly holds = new HoldWatch((message) => this.#log.warn(message));
  /** The origin of the events of all acquisitions. */
  readonly origin: EventOrigin;
  readonly #backend: LockBackend;
  /** The local queues, also for listing their callers. */
  readonly local: LocalQueues;
  /** The holders of keys whose waits are about to time out. */
  readonly holders: Holders;
  readonly #held = new LinkedList<GrantedLease>();
  readonly #waiting = new LinkedList<Acquisition>();
  readonly #lost = new LostLeases(
    { warn: (message) => this.#log.warn(message), error: (message) => this.#log.error(message) },
    (...losses) => this.#onLosses(...losses),
  );
  readonly #onLost: LossListener = (lease, reason) => this.#lost.add(lease, reason);
  readonly #onHandleLost: LossListener = (lease, reason) => {
    this.#lost.add(lease, reason);
    void lease.release();
  };
  #log: LeaseLog = { warn() {}, error() {} };
  #onLosses: LossesListener = () => {};
  #isStopping = false;
  #isClosed = false;
  readonly #closed = deferred();
  #drained: Promise<void> | undefined;

  /**
   * @param connection name of the connection, for events
   */
  constructor(backend: LockBackend, connection: string = DEFAULT_CONNECTION) {
    this.#backend = backend;
    this.origin = Object.freeze({ connection, backend: backend.name });
    this.local = new LocalQueues(backend, this.origin);
    this.holders = new Holders(backend, this.local);
  }

  /** The number of leases that this process holds on the connection, and of its callers that wait. */
  get counts(): { readonly held: number; readonly waiting: number } {
    return { held: this.#held.size, waiting: this.#waiting.size };
  }

  /** Sets the log for lost leases, and for leases that a shutdown waits for; and the listener for lost leases. */
  reportTo(log: LeaseLog, onLosses: LossesListener): void {
    this.#log = log;
    this.#onLosses = onLosses;
  }

  /** Returns how long a call that requests `waitMs` waits, in milliseconds. The gate of a test makes it shorter. */
  waitMsOf(waitMs: number): number {
    return waitMs;
  }

  /** @throws LockTimeoutError when the deadline passed, or another contender is ahead of a caller that does not wait */
  acquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease> {
    const now = this.#takeNow(target, options);
    if (now) return Promise.resolve(now);
    const acquisition = this.#begin(target, options);
    const asked = this.#ask(acquisition);
    // A request that waits ends with a lease or an error, never with `null`.
    if (acquisition.wait) return asked as Promise<GrantedLease>;
    return asked.then((lease) => lease ?? this.#refuseInTime(acquisition, options));
  }

  /** Like `acquire`, but returns `null` instead of the time-out. */
  async tryAcquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease | null> {
    const now = this.#takeNow(target, options);
    if (now) return now;
    const acquisition = this.#begin(target, options);
    const asked = this.#ask(acquisition);
    if (!acquisition.wait) return (await asked) ?? this.#refuse(acquisition, options);
    return asked.catch((error: unknown) => {
      if (acquisition.isTimeout(error)) return null;
      throw error;
    });
  }

  /**
   * Acquires all of several targets or none, queued for in one step. `null`: not granted this time.
   * @throws as `acquire`
   */
  async acquireAll(
    targets: readonly [LockTarget, ...LockTarget[]],
    options: AcquisitionOptions,
  ): Promise<readonly GrantedLease[] | null> {
    const all = setOf(targets);
    const observations = targets.map((target) => this.observe(target, options));
    if (this.#isClosed) throw missed(observations, new LockShutdownError(all.key));
    const acquisition = this.#begin(all, options);
    const requests = targets.map(({ key }) => ({ ...requestOf(acquisition), key, name: key }));
    const asked = this.#backend.acquireAll?.(requests) ?? Promise.resolve(null);
    const leases = await asked
      .catch((error: unknown) => {
        throw missed(observations, failureOf(acquisition, error), acquisition.givenUp?.reason === error);
      })
      .finally(() => acquisition.settled());
    if (!leases) return this.#refuse(acquisition, options, observations);
    const refusal = leases.map((lease) => this.#refusalOf(lease)).find((reason) => reason !== undefined);
    if (refusal !== undefined) return giveBack(leases, missed(observations, refusal));
    leases.forEach((lease, place) => this.admit(lease, { key: lease.key }, options, observations[place]));
    return leases;
  }

  /** Lists a lease that was granted, until it is released. Must be called right before its caller gets it. */
  admit(lease: GrantedLease, target: HeldTarget, holder: Holder, observation: Observation | undefined): void {
    const { label, isHandle } = holder;
    const place = this.#held.join(lease);
    const watch = this.holds.watch(lease, target, holder);
    lease.label = label;
    // Before the others: a handle that is lost by now is released at once.
    observation?.granted(lease);
    lease.onLost(isHandle ? this.#onHandleLost : this.#onLost);
    lease.onReleased(() => {
      place.leave();
      watch?.leave();
    });
  }

  /** Returns the error for a caller that does not wait any longer. */
  timeout(target: LockTarget, waitMs: number): LockTimeoutError {
    return new LockTimeoutError(target.key, waitMs, undefined, this.holders.known(target));
  }

  /** Begins an acquisition for observers, also of one that is made elsewhere. `undefined`: there are none. */
  observe(...of: ObservedAs): Observation | undefined {
    return channels.requestStart.hasSubscribers ? Observation.start(this.origin, ...of) : undefined;
  }

  /**
   * Adds a lease that was granted elsewhere to the held leases. Once the gate is closed, it releases the lease and
   * throws a LockShutdownError.
   */
  hold(lease: GrantedLease, label: string | undefined, observation: Observation | undefined): void {
    const { key } = lease;
    if (!this.#isClosed) return this.admit(lease, { key }, { label, isHandle: true }, observation);
    const error = new LockShutdownError(key);
    observation?.missed(error);
    void lease.release();
    throw error;
  }

  /**
   * Rejects all waiting callers with a `LockShutdownError`. From now on holders have `drainTimeoutMs` to finish. After
   * that their leases are ended and released, and nothing is granted any more.
   */
  stopWaiting(drainTimeoutMs: number): void {
    this.#isStopping = true;
    this.#waiting.members.forEach((acquisition) => acquisition.giveUp(new LockShutdownError(acquisition.target.key)));
    this.#drained ??= this.#endHolders(drainTimeoutMs);
  }

  /** Grants nothing any more. Resolves when the holders have finished, or their leases were ended. Never rejects. */
  async drain(drainTimeoutMs: number): Promise<void> {
    this.stopWaiting(drainTimeoutMs);
    this.#isClosed = true;
    this.#closed.resolve();
    await this.#drained;
    await this.local.giveUpKept();
  }

  async #endHolders(drainTimeoutMs: number): Promise<void> {
    const { promise: closed } = this.#closed;
    const unfinished = await drained(this.#held, drainTimeoutMs, closed, (message) => this.#log.warn(message));
    this.#isClosed = true;
    this.holds.stop();
    unfinished.forEach((lease) => lease.lose(new LockShutdownError(lease.key)));
    await Promise.all(unfinished.map((lease) => lease.release()));
  }

  #takeNow(target: LockTarget, options: AcquisitionOptions): GrantedLease | undefined {
    if (this.#isClosed) throw missed([this.observe(target, options)], new LockShutdownError(target.key));
    const lease = target.localLine ? this.local.takeNow(target, options.label) : undefined;
    if (lease) this.admit(lease, target, options, this.observe(target, options));
    return lease;
  }

  #begin(target: LockTarget, options: AcquisitionOptions): Acquisition {
    const wait = options.leftMs > 0 && !this.#isStopping;
    const acquisition = new Acquisition(target, options, wait, this);
    if (wait) acquisition.waitingPlace = this.#waiting.join(acquisition);
    // The members of a set are observed one by one.
    if (channels.requestStart.hasSubscribers && !target.members) {
      acquisition.observation = Observation.start(this.origin, target, options);
    }
    return acquisition;
  }

  // Not `async`: a promise and a frame would live as long as the wait, and ten thousand callers may wait.
  #ask(acquisition: Acquisition): Promise<GrantedLease | null> {
    const { target, wait } = acquisition;
    if (!target.localLine) return this.#answer(acquisition, this.#askBackend(acquisition));
    const asked = this.local.acquire(acquisition);
    // The local queue calls `settled` for a caller that waits. One that does not wait is settled here.
    return wait ? asked : this.#answer(acquisition, asked);
  }

  #askBackend(acquisition: Acquisition): Promise<GrantedLease | null> {
    const request = requestOf(acquisition);
    const { ask } = acquisition.target;
    return ask ? ask(request) : this.#backend.acquire(request);
  }

  async #answer(acquisition: Acquisition, asked: Promise<GrantedLease | null>): Promise<GrantedLease | null> {
    let lease: GrantedLease | null;
    try {
      lease = await asked;
    } catch (error) {
      const failure = failureOf(acquisition, error);
      acquisition.settled(undefined, failure);
      throw failure;
    }
    const refusal = lease ? this.#refusalOf(lease) : undefined;
    acquisition.settled(refusal === undefined ? (lease ?? undefined) : undefined, refusal);
    return lease && refusal !== undefined ? giveBack([lease], refusal) : lease;
  }

  /** Returns why a granted lease is not handed out: it may have been lost meanwhile, or the gate has closed. */
  #refusalOf(lease: GrantedLease): unknown {
    if (this.#isClosed) return new LockShutdownError(lease.key);
    return lease.isHeld() ? undefined : lease.signal.reason;
  }

  #refuseInTime(acquisition: Acquisition, options: AcquisitionOptions): never {
    this.#refuse(acquisition, options);
    throw this.timeout(acquisition.target, options.waitMs);
  }

  /** Throws a LockShutdownError if the caller would have waited. Otherwise returns `null`. */
  #refuse(
    { target: { key }, observation }: Acquisition,
    { leftMs }: AcquisitionOptions,
    observations: readonly (Observation | undefined)[] = [observation],
  ): null {
    if (this.#isStopping && leftMs > 0) throw missed(observations, new LockShutdownError(key));
    missed(observations, undefined);
    return null;
  }
}

async function giveBack(leases: readonly GrantedLease[], reason: unknown): Promise<never> {
  await Promise.all(leases.map((lease) => lease.release()));
  throw reason;
}

/**
 * One caller's acquisition, from the first request to the answer. It combines the deadline, the caller's own signal and
 * the shutdown into one end. That end has one listener, or a signal where one is needed.
 */
class Acquisition extends WaitTimer implements CallerRequest {
  readonly target: LockTarget;
  readonly wait: boolean;
  readonly isHandle: boolean;
  readonly label: string | undefined;
  readonly place: AcquisitionOptions['place'];
  givenUp: { readonly reason: unknown } | undefined = undefined;
  observation: Observation | undefined = undefined;
  onGivenUp: GivingUpListener | undefined = undefined;
  /** The place among the waiting acquisitions, which it leaves when it is settled. */
  waitingPlace: Place<Acquisition> | undefined = undefined;
  readonly #waitMs: number;
  readonly #gate: AcquisitionGate;
  readonly #unlisten: Dispose | undefined;
  #timeout: LockTimeoutError | undefined;
  #controller: OwnAbortController | undefined;

  /** @param wait whether the acquisition may wait in the queue */
  constructor(target: LockTarget, options: AcquisitionOptions, wait: boolean, gate: AcquisitionGate) {
    super();
    const { waitMs, leftMs, signal, label, place } = options;
    this.target = target;
    this.wait = wait;
    this.isHandle = options.isHandle;
    this.label = label;
    this.place = place;
    this.#waitMs = waitMs;
    this.#gate = gate;
    if (wait) this.startTimer(leftMs);
    if (signal) this.#unlisten = onAbort(signal, (reason) => this.giveUp(reason));
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new OwnAbortController();
      if (this.givenUp) this.#controller.abort(this.givenUp.reason);
    }
    return this.#controller.signal;
  }

  /** Ends the wait with this reason, unless it has ended. */
  giveUp(reason: unknown): void {
    if (this.givenUp) return;
    this.givenUp = { reason };
    this.stopTimer();
    this.#unlisten?.();
    this.onGivenUp?.gaveUp(reason);
    this.#controller?.abort(reason);
  }

  protected override nearsEnd(): void {
    this.#gate.holders.ask(this.target);
  }

  protected override timedOut(): void {
    const holders = this.#gate.holders.known(this.target);
    this.#timeout = new LockTimeoutError(this.target.key, this.#waitMs, whyNot(holders), holders);
    this.giveUp(this.#timeout);
  }

  /** Whether `error` is the time-out of this very deadline. */
  isTimeout(error: unknown): boolean {
    return this.#timeout !== undefined && error === this.#timeout;
  }

  settled(lease?: GrantedLease, error?: unknown): void {
    this.stopTimer();
    this.#unlisten?.();
    this.waitingPlace?.leave();
    if (lease) this.#gate.admit(lease, this.target, this, this.observation);
    else if (error !== undefined) this.observation?.missed(error, this.givenUp?.reason === error);
  }
}

/** Returns the reason of a time-out if the call holds another key. Otherwise the reason is only another holder. */
function whyNot(holders: readonly Contender[]): string | undefined {
  const held = heldLock();
  if (!held) return undefined;
  const cure = 'calls that take two keys in opposite orders wait for each other; multi() takes both at once';
  return `${lockedBy(holders)}, while this call holds "${held.key}": ${cure}`;
}
