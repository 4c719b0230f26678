import { now } from '../async/clock.js';
import { LinkedList } from '../async/collections.js';
import { deferred } from '../async/deferred.js';
import { settledWithin } from '../async/timer.js';
import type { Contender } from '../contract/contender.js';
import { LockLostError, LockShutdownError, LockTimeoutError } from '../contract/errors.js';
import type { LockError } from '../contract/errors.js';
import type { GrantedLease, LossListener } from '../contract/granted-lease.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { failureOf, requestOf } from '../contract/lock-request.js';
import { LocalQueues } from '../local/local-queues.js';
import { Acquisition } from './acquisition.js';
import type { AcquisitionListener, AcquisitionOptions } from './acquisition.js';
import { Held, HoldWatch } from './hold-watch.js';
import type { HeldTarget, HolderDetails } from './hold-watch.js';
import { Holders } from './holders.js';
import { leasesText } from './lease-text.js';
import { setOf } from './lock-targets.js';
import type { LockTarget } from './lock-targets.js';

/** Details of the holder of an admitted lease. */
type Holder = HolderDetails & Pick<AcquisitionOptions, 'isHandle'>;

/**
 * The gate between callers and a backend, with three states:
 * - open;
 * - after `stopWaiting`: a free lock is still granted, but no caller waits;
 * - after `drain`: nothing is granted.
 */
export class AcquisitionGate implements AcquisitionListener {
  /** Detects leases that are held for too long. */
  readonly holds = new HoldWatch((message) => this.#warn(message));
  readonly #backend: LockBackend;
  readonly #longestWaitMs: number;
  readonly #local: LocalQueues;
  /** The holders of keys whose waits are about to time out. */
  readonly holders: Holders;
  readonly #held = new LinkedList<GrantedLease>();
  readonly #waiting = new LinkedList<Acquisition>();
  readonly #lost = new LostLeases((message) => this.#warn(message));
  readonly #onLost: LossListener = (lease, reason) => this.#lost.add(lease, reason);
  readonly #onHandleLost: LossListener = (lease, reason) => {
    this.#lost.add(lease, reason);
    void lease.release();
  };
  #warn: (message: string) => void = () => {};
  #isStopping = false;
  #isClosed = false;
  readonly #closed = deferred();
  #drained: Promise<void> | undefined;

  /** @param longestWaitMs longest time that a call waits, in milliseconds; a wait without an end has none */
  constructor(backend: LockBackend, longestWaitMs = Infinity) {
    this.#longestWaitMs = longestWaitMs;
    this.#backend = backend;
    this.#local = new LocalQueues(backend);
    this.holders = new Holders(backend, this.#local);
  }

  /** The local queues, for listing their callers. */
  get local(): LocalQueues {
    return this.#local;
  }

  /** Sets the log for lost leases, and for leases that a shutdown waits for. */
  warnTo(warn: (message: string) => void): void {
    this.#warn = warn;
  }

  /** Returns how long a call that requests `waitMs` waits, in milliseconds. */
  waitMsOf(waitMs: number): number {
    return waitMs === Infinity ? waitMs : Math.min(waitMs, this.#longestWaitMs);
  }

  /** @throws LockTimeoutError when the deadline passed, or another contender is ahead of a caller that does not wait */
  acquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease> {
    const now = this.#takeNow(target, options);
    if (now) return Promise.resolve(now);
    const acquisition = this.#begin(target, options);
    if (acquisition.wait) return this.#wait(acquisition);
    return this.#ask(acquisition).then((lease) => lease ?? this.#turnAway(target, options));
  }

  /** Like `acquire`, but returns `null` instead of the time-out. */
  async tryAcquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease | null> {
    const now = this.#takeNow(target, options);
    if (now) return now;
    const acquisition = this.#begin(target, options);
    if (!acquisition.wait) return (await this.#ask(acquisition)) ?? this.#turnAwayWaiting(target, options);
    return this.#wait(acquisition).catch((error: unknown) => {
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
    if (this.#isClosed) throw new LockShutdownError(all.key);
    const acquisition = this.#begin(all, options);
    const requests = targets.map(({ key }) => ({ ...requestOf(acquisition), key, name: key }));
    const asked = this.#backend.acquireAll?.(requests) ?? Promise.resolve(null);
    const leases = await asked
      .catch((error: unknown) => Promise.reject(failureOf(acquisition, error)))
      .finally(() => acquisition.settled());
    if (!leases) return this.#turnAwayWaiting(all, options);
    const refusal = leases.map((lease) => this.#refusalOf(lease)).find((reason) => reason !== undefined);
    if (refusal !== undefined) return giveBack(leases, refusal);
    leases.forEach((lease) => this.#admit(lease, { key: lease.key }, options));
    return leases;
  }

  settled(acquisition: Acquisition, lease: GrantedLease | undefined): void {
    if (!lease) return;
    if (this.#backend.releasesSignals) acquisition.releaseSignal();
    this.#admit(lease, acquisition.target, acquisition);
  }

  mayTimeOut(target: LockTarget): void {
    this.holders.ask(target);
  }

  holdersOf(target: LockTarget): readonly Contender[] {
    return this.holders.known(target);
  }

  /** Returns the error for a caller that does not wait any longer. */
  timeout(target: LockTarget, waitMs: number): LockTimeoutError {
    return new LockTimeoutError(target.key, waitMs, undefined, this.holdersOf(target));
  }

  /**
   * Adds a lease that was granted elsewhere to the held leases. Once the gate is closed, it releases the lease and
   * throws a LockShutdownError.
   */
  hold(lease: GrantedLease): void {
    if (!this.#isClosed) return this.#admit(lease, { key: lease.key }, { isHandle: true });
    void lease.release();
    throw new LockShutdownError(lease.key);
  }

  /**
   * Rejects all waiting callers with a `LockShutdownError`. From now on holders have `drainTimeoutMs` to finish. After
   * that their leases are ended and released, and nothing is granted any more.
   */
  stopWaiting(drainTimeoutMs: number): void {
    this.#isStopping = true;
    this.#waiting.members.forEach((acquisition) => acquisition.giveUp(new LockShutdownError(acquisition.key)));
    this.#drained ??= this.#endHolders(drainTimeoutMs);
  }

  /** Grants nothing any more. Resolves when the holders have finished, or their leases were ended. Never rejects. */
  async drain(drainTimeoutMs: number): Promise<void> {
    this.stopWaiting(drainTimeoutMs);
    this.#isClosed = true;
    this.#closed.resolve();
    await this.#drained;
    await this.#local.giveUpKept();
  }

  async #endHolders(drainTimeoutMs: number): Promise<void> {
    const { promise: closed } = this.#closed;
    const unfinished = await drained(this.#held, drainTimeoutMs, closed, (message) => this.#warn(message));
    this.#isClosed = true;
    this.holds.stop();
    unfinished.forEach((lease) => lease.lose(new LockShutdownError(lease.key)));
    await Promise.all(unfinished.map((lease) => lease.release()));
  }

  #takeNow(target: LockTarget, options: AcquisitionOptions): GrantedLease | undefined {
    if (this.#isClosed) throw new LockShutdownError(target.key);
    const lease = isLocal(target) ? this.#local.takeNow(target, options.label) : undefined;
    if (lease) this.#admit(lease, target, options);
    return lease;
  }

  #begin(target: LockTarget, options: AcquisitionOptions): Acquisition {
    const wait = options.leftMs > 0 && !this.#isStopping;
    const acquisition = new Acquisition(target, options, wait, this);
    if (wait) acquisition.waitsAt(this.#waiting.join(acquisition));
    return acquisition;
  }

  #wait(acquisition: Acquisition): Promise<GrantedLease> {
    // Not `async`: every waiting caller keeps alive what this promise keeps alive.
    if (isLocal(acquisition.target)) return this.#local.wait(acquisition);
    // A request that waits ends with a lease or an error, never with `null`.
    return this.#answer(acquisition, this.#askBackend(acquisition)) as Promise<GrantedLease>;
  }

  async #ask(acquisition: Acquisition): Promise<GrantedLease | null> {
    const { target } = acquisition;
    const asked = isLocal(target) ? this.#local.ask(acquisition) : this.#askBackend(acquisition);
    return this.#answer(acquisition, asked);
  }

  #askBackend(acquisition: Acquisition): Promise<GrantedLease | null> {
    const request = requestOf(acquisition);
    const { ask } = acquisition.target;
    return ask ? ask(request) : this.#backend.acquire(request);
  }

  async #answer(acquisition: Acquisition, asked: Promise<GrantedLease | null>): Promise<GrantedLease | null> {
    const lease = await asked.catch((error: unknown) => {
      acquisition.settled();
      throw failureOf(acquisition, error);
    });
    const refusal = lease ? this.#refusalOf(lease) : undefined;
    acquisition.settled(refusal === undefined ? (lease ?? undefined) : undefined);
    return lease && refusal !== undefined ? giveBack([lease], refusal) : lease;
  }

  /** Returns why a granted lease is not handed out: it may have been lost meanwhile, or the gate has closed. */
  #refusalOf(lease: GrantedLease): unknown {
    if (this.#isClosed) return new LockShutdownError(lease.key);
    return lease.isHeld() ? undefined : lease.signal.reason;
  }

  #turnAway(target: LockTarget, options: AcquisitionOptions): never {
    this.#turnAwayWaiting(target, options);
    throw this.timeout(target, options.waitMs);
  }

  /** Throws a LockShutdownError if the caller would have waited. Otherwise returns `null`. */
  #turnAwayWaiting({ key }: LockTarget, { leftMs }: AcquisitionOptions): null {
    if (this.#isStopping && leftMs > 0) throw new LockShutdownError(key);
    return null;
  }

  #admit(lease: GrantedLease, target: HeldTarget, { label, place: site, isHandle }: Holder): void {
    const place = this.#held.join(lease);
    const watch = this.holds.watch(new Held(lease, target, label, site));
    lease.label = label;
    lease.onLost(isHandle ? this.#onHandleLost : this.#onLost);
    lease.onReleased(() => {
      place.leave();
      watch?.leave();
    });
  }
}

async function giveBack(leases: readonly GrantedLease[], reason: unknown): Promise<never> {
  await Promise.all(leases.map((lease) => lease.release()));
  throw reason;
}

function isLocal({ localLine, line }: LockTarget): boolean {
  return localLine && line === 'fifo';
}

/**
 * Logs lost leases with their reason: one log entry for all that are lost together. Leases that a shutdown ends are not
 * logged.
 */
class LostLeases {
  readonly #warn: (message: string) => void;
  #lost = new Map<string, GrantedLease[]>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(lease: GrantedLease, error: LockError): void {
    if (error instanceof LockShutdownError) return;
    const reason = error instanceof LockLostError ? error.reason : error.message;
    // A session loses all its leases in one turn, so one microtask collects them.
    if (this.#lost.size === 0) queueMicrotask(() => this.#tell());
    const others = this.#lost.get(reason);
    if (others) others.push(lease);
    else this.#lost.set(reason, [lease]);
  }

  #tell(): void {
    const lost = this.#lost;
    this.#lost = new Map();
    for (const [reason, leases] of lost) {
      this.#warn(`lost ${leasesText(leases)}. Reason: ${reason}. Other processes may be granted these keys`);
    }
  }
}

const TOLD_EVERY_MS = 1_000;

/**
 * Waits until nothing is granted any more and all leases are released, for at most `drainTimeoutMs`. Logs once a second
 * which leases it waits for.
 * @param closed resolves when nothing is granted any more
 * @returns the leases that were not released
 */
async function drained(
  held: LinkedList<GrantedLease>,
  drainTimeoutMs: number,
  closed: Promise<void>,
  warn: (message: string) => void,
): Promise<readonly GrantedLease[]> {
  const end = now() + drainTimeoutMs;
  const telling = setInterval(() => {
    const leftMs = Math.max(0, end - now());
    const most = leftMs === Infinity ? '' : `. At most ${Math.ceil(leftMs / 1_000)} s more (drainTimeoutMs)`;
    const inUse = held.members.filter(isInUse);
    if (inUse.length > 0) warn(`app.close() waits for ${leasesText(inUse)}${most}`);
  }, TOLD_EVERY_MS);
  const givenBack = closed.then(() => Promise.all(held.members.map((lease) => lease.released)));
  await settledWithin(givenBack, drainTimeoutMs);
  clearInterval(telling);
  const overdue = held.members;
  const takenAway = overdue.filter(isInUse);
  if (takenAway.length > 0) {
    const within = `not given back within ${drainTimeoutMs} ms (drainTimeoutMs)`;
    warn(`app.close() has taken away ${leasesText(takenAway)}; ${within}. Their work may still run`);
  }
  return overdue;
}

/** Whether the holder has not released the lease. A lease whose release is being sent to the servers does not count. */
function isInUse({ state }: GrantedLease): boolean {
  return state !== 'released';
}
