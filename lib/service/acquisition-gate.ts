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
import { LocalLines } from '../local/local-lines.js';
import { Acquisition } from './acquisition.js';
import type { AcquisitionListener, AcquisitionOptions } from './acquisition.js';
import { Held } from './held.js';
import type { HeldTarget, HolderDetails } from './held.js';
import { HoldWatch } from './hold-watch.js';
import { Holders } from './holders.js';
import { leasesText } from './lease-text.js';
import { setOf } from './lock-targets.js';
import type { LockTarget } from './lock-targets.js';

/** Who is let in. */
type Holder = HolderDetails & Pick<AcquisitionOptions, 'isHandle'>;

/**
 * The gate between callers and a backend, and what shutting down means for both:
 * open, then `stopWaiting` (what is free is still granted, nobody stands in line), then `drain` (nothing is granted).
 */
export class AcquisitionGate implements AcquisitionListener {
  /** Sees which leases are held for too long. */
  readonly holds = new HoldWatch((message) => this.#warn(message));
  readonly #backend: LockBackend;
  readonly #local: LocalLines;
  /** Who holds what callers wait for in vain. */
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

  constructor(backend: LockBackend) {
    this.#backend = backend;
    this.#local = new LocalLines(backend);
    this.holders = new Holders(backend, this.#local);
  }

  /** The local lines, for whoever wants to know who stands in them. */
  get local(): LocalLines {
    return this.#local;
  }

  /** Where to say which leases are lost, and which ones a shutdown waits for. */
  warnTo(warn: (message: string) => void): void {
    this.#warn = warn;
  }

  /** How long somebody waits here who would wait for so long, in milliseconds. */
  limited(waitMs: number): number {
    return waitMs;
  }

  /** @throws LockTimeoutError when the deadline passed, or somebody is ahead of one who does not wait */
  acquire(target: LockTarget, options: AcquisitionOptions): Promise<GrantedLease> {
    const now = this.#takeNow(target, options);
    if (now) return Promise.resolve(now);
    const acquisition = this.#begin(target, options);
    if (acquisition.wait) return this.#wait(acquisition);
    return this.#ask(acquisition).then((lease) => lease ?? this.#turnAway(target, options));
  }

  /** `null` instead of the time-out. */
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

  /** All of several targets or none, lined up for in one step. `null`: not this time. @throws as `acquire` */
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

  /** The error for a caller that does not wait any longer. */
  timeout(target: LockTarget, waitMs: number): LockTimeoutError {
    return new LockTimeoutError(target.key, waitMs, undefined, this.holdersOf(target));
  }

  /** Counts a lease that was granted elsewhere among those that are held; later than that, it is given back. */
  hold(lease: GrantedLease): void {
    if (!this.#isClosed) return this.#admit(lease, { key: lease.key }, { isHandle: true });
    void lease.release();
    throw new LockShutdownError(lease.key);
  }

  /**
   * Rejects everybody who stands in line with a `LockShutdownError`. From now on holders have `drainTimeoutMs` to finish: then
   * their leases are ended and given back, and nothing is granted any more.
   */
  stopWaiting(drainTimeoutMs: number): void {
    this.#isStopping = true;
    this.#waiting.members.forEach((acquisition) => acquisition.giveUp(new LockShutdownError(acquisition.key)));
    this.#drained ??= this.#endHolders(drainTimeoutMs);
  }

  /** Grants nothing any more, and resolves when the holders have finished, or their leases were ended. Never rejects. */
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
    // Not `async`: what this promise keeps alive, every caller in a line does.
    if (isLocal(acquisition.target)) return this.#local.wait(acquisition);
    // Whoever waits gets a lease, or an error.
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

  /** Why a lease that was granted is not handed out: it may have been lost on its way, or nobody may hold any more. */
  #refusalOf(lease: GrantedLease): unknown {
    if (this.#isClosed) return new LockShutdownError(lease.key);
    return lease.isHeld() ? undefined : lease.signal.reason;
  }

  #turnAway(target: LockTarget, options: AcquisitionOptions): never {
    this.#turnAwayWaiting(target, options);
    throw this.timeout(target, options.waitMs);
  }

  /** Whoever would have waited is told why it could not. */
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

/** Says which leases are lost, and why: one line for all that are lost together. What a shutdown ends is not lost. */
class LostLeases {
  readonly #warn: (message: string) => void;
  #lost = new Map<string, GrantedLease[]>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  add(lease: GrantedLease, error: LockError): void {
    if (error instanceof LockShutdownError) return;
    const reason = error instanceof LockLostError ? error.reason : error.message;
    // A session loses its leases in one turn.
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
 * Waits until nothing is granted any more and all leases are given back, for at most `drainTimeoutMs`, and says once a
 * second which ones it waits for.
 * @param closed resolves when nothing is granted any more
 * @returns those that were not given back
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

/** Its holder has not given it back: not one whose release is on its way to the servers. */
function isInUse({ state }: GrantedLease): boolean {
  return state !== 'released';
}
