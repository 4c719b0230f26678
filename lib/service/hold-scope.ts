import { AsyncLocalStorage } from 'node:async_hooks';
import { orAbort } from '../async/abort.js';
import { LockConfigurationError, LockLostError, LockReentrancyError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import { LeaseView } from '../contract/lease.js';
import type { Lease, LeaseMode, LeaseState } from '../contract/lease.js';
import type { PermitDemand } from '../contract/lock-request.js';

/** The identity of a key in this process: the backend that grants it, and the backend's name of the key. */
export interface Holding {
  readonly scope: object;
  readonly identity: string;
  /** For a semaphore: the number of permits that are held or requested. */
  readonly permits?: PermitDemand | undefined;
  /** Whether the key is one of an atomic set. A call that holds such a set must not acquire anything else. */
  readonly isOfAtomicSet?: boolean;
}

/** A lease that a re-entrant hold can be created for. */
export type ReentrantLease = Lease & Partial<Pick<GrantedLease, 'downgrade' | 'addFollower'>>;

/**
 * One granted lease and its participants. It is released with the last participant, so that no work runs without the
 * lock. When only readers remain in a writer's hold, it becomes a reader's.
 */
export class ReentrantHold {
  #readers: number;
  #others: number;
  #downgrade: Promise<void> | undefined;
  readonly #giveBack: (() => Promise<void>) | undefined;

  /**
   * Makes a hold with one participant, in the mode of the lease.
   * @param giveBack called in place of the lease's own release, when the last participant has left
   */
  constructor(
    readonly lease: ReentrantLease,
    readonly holding: Holding | undefined,
    giveBack?: () => Promise<void>,
  ) {
    this.#readers = lease.mode === 'read' ? 1 : 0;
    this.#others = 1 - this.#readers;
    this.#giveBack = giveBack;
  }

  /** The mode in which participants may still join. */
  get mode(): LeaseMode {
    return this.#downgrade ? 'read' : this.lease.mode;
  }

  /**
   * Whether the lease has yet to be released. `false` after the last participant has left, or after an early release.
   */
  get isOpen(): boolean {
    return this.#readers + this.#others > 0 && this.lease.state !== 'released';
  }

  /** Whether more than one participant uses the full mode of the lease, not only its read access. */
  get hasOthers(): boolean {
    return this.#others > 1;
  }

  /** Adds a participant. Each one leaves once, with the mode that it has entered in. */
  enter(mode: LeaseMode): void {
    if (mode === 'read') this.#readers++;
    else this.#others++;
  }

  /** Removes a participant. Resolves when it blocks no other contender any more. */
  async leave(mode: LeaseMode): Promise<void> {
    if (mode === 'read') this.#readers--;
    else this.#others--;
    if (this.#readers + this.#others === 0) await (this.#giveBack ? this.#giveBack() : this.lease.release());
    else if (this.#others === 0 && this.mode === 'write') await (this.#downgrade = this.lease.downgrade?.());
  }
}

/** Returns a hold of a lease that the code that acquired it releases. */
export function notReleased(lease: Lease): ReentrantHold {
  return new ReentrantHold(lease, undefined, async () => {});
}

/** The lease as a nested call sees it: the outer call's lease, but releasing it has no effect. */
export class EnteredLease extends LeaseView {
  async release(): Promise<void> {}
}

/**
 * One participant's view of a re-entrant hold. Releasing it ends it for this participant; the lock is released with the
 * last one.
 */
export class StayingLease extends EnteredLease {
  readonly #reentrantHold: ReentrantHold;
  #endState: 'lost' | 'released' | undefined;
  #left: Promise<void> | undefined;

  /** @param mode mode in which the participant has entered the hold */
  constructor(reentrantHold: ReentrantHold, mode: LeaseMode) {
    super(reentrantHold.lease, mode);
    this.#reentrantHold = reentrantHold;
  }

  override get state(): LeaseState {
    return this.#endState ?? super.state;
  }

  override isHeld(): boolean {
    return this.#endState === undefined && super.isHeld();
  }

  /** Ends the participation. Resolves when it blocks no other contender any more. */
  leave(): Promise<void> {
    this.#endState ??= super.state === 'lost' ? 'lost' : 'released';
    return (this.#left ??= this.#reentrantHold.leave(this.mode));
  }

  override release(): Promise<void> {
    // With other writers inside, an early release ends the lease for them too, as with every lease that is released
    // early.
    return this.mode === 'write' && this.#reentrantHold.hasOthers ? this.#reentrantHold.lease.release() : this.leave();
  }
}

/** Returns the lease of a participant that continues to read, and releases it itself. A lost lease needs no release. */
export function readOnIn(reentrantHold: ReentrantHold): StayingLease {
  reentrantHold.enter('read');
  const lease = new StayingLease(reentrantHold, 'read');
  if (lease.state === 'lost') void lease.leave();
  else reentrantHold.lease.addFollower?.({ suspend() {}, resume() {}, revoke() {}, lose: () => void lease.leave() });
  return lease;
}

const context = new AsyncLocalStorage<HoldScope | undefined>();

/** The hold and the lease of a scope while it lasts. */
export interface HoldSpan {
  readonly reentrantHold: ReentrantHold;
  /** The lease of the hold, as the code inside may use it. */
  readonly lease: Lease;
}

/**
 * Leaves the line of a scope.
 * @param last end of the last call inside the leaving one that has not ended yet; it keeps the place until then
 */
export type LeaveLine = (last?: Promise<void>) => void;

/** A part of an async context that runs inside a re-entrant hold. */
export class HoldScope {
  #span: HoldSpan | undefined;
  #outer: HoldScope | undefined;
  #isOver = false;
  #inLine = 0;
  #lastInLine: Promise<void> | undefined;

  /**
   * Makes a scope inside the one that the code runs in.
   * @param span hold and lease; `undefined` if leases are acquired only later
   */
  constructor(span?: HoldSpan) {
    this.#span = span;
    const outer = context.getStore();
    // A scope that has ended would be kept alive by each scope that begins inside it.
    this.#outer = outer?.isActive ? outer : outer?.outer;
  }

  /** Runs `work` in this scope, inside the one that the code runs in. */
  run<T>(work: () => T): T {
    return context.run(this, work);
  }

  /**
   * Clears the references. Promises created inside refer to this object for as long as they live, and must not keep the
   * rest alive.
   */
  end(): void {
    this.#isOver = true;
    this.#span = undefined;
  }

  /** Puts a scope for each member of `around` right outside this one, and gives this one `span`. */
  grow(span: HoldSpan, around: readonly HoldSpan[]): readonly HoldScope[] {
    const scopes: HoldScope[] = [];
    for (const one of around) {
      const scope = new HoldScope(one);
      scope.#outer = this.#outer;
      this.#outer = scope;
      scopes.push(scope);
    }
    this.#span = span;
    return scopes;
  }

  get isActive(): boolean {
    return !this.#isOver;
  }

  get reentrantHold(): ReentrantHold | undefined {
    return this.#span?.reentrantHold;
  }

  get lease(): Lease | undefined {
    return this.#span?.lease;
  }

  /** The number of permits of a semaphore that its hold has. */
  get permits(): number {
    return this.reentrantHold?.holding?.permits?.count ?? 0;
  }

  /** The nearest enclosing scope that has not ended. */
  get outer(): HoldScope | undefined {
    while (this.#outer && !this.#outer.isActive) this.#outer = this.#outer.outer;
    return this.#outer;
  }

  /** Whether nested work may still join: this part has not ended, and its lease has not been released. */
  get isOpen(): boolean {
    const { reentrantHold, lease } = this.#span ?? {};
    return reentrantHold !== undefined && reentrantHold.isOpen && lease?.state !== 'released';
  }

  /** The end of the last nested call that is inside or waits for its turn, if there is one. */
  get lastInLine(): Promise<void> | undefined {
    return this.#inLine > 0 ? this.#lastInLine : undefined;
  }

  isFor(holding: Holding): boolean {
    const own = this.#span?.reentrantHold.holding;
    return own !== undefined && own.scope === holding.scope && own.identity === holding.identity;
  }

  /** Waits for earlier sibling calls. They share the lease, but run one after another. */
  async turn(signal: AbortSignal): Promise<LeaveLine> {
    const previous = this.#lastInLine;
    let pass!: (to?: Promise<void>) => void;
    const own = new Promise<void>((resolve) => (pass = resolve));
    this.#lastInLine = own;
    this.#inLine++;
    const leave = (to?: Promise<void>) => {
      this.#inLine--;
      pass(to);
    };
    try {
      await orAbort(previous ?? Promise.resolve(), signal);
    } catch (reason) {
      // Calls that give up one after another would form a chain for as long as the one in front is stuck.
      if (this.#lastInLine === own) this.#lastInLine = previous;
      leave(previous);
      throw reason;
    }
    const leaveAfter: LeaveLine = (last) => void (last ? last.then(() => leave()) : leave());
    return leaveAfter;
  }
}

/** Returns the innermost scope of the async context that holds this key. */
export function scopeHolding(holding: Holding): HoldScope | undefined {
  let scope = context.getStore();
  while (scope && !(scope.isOpen && scope.isFor(holding))) scope = scope.outer;
  return scope;
}

/** Returns the number of permits of a semaphore that this async context holds. */
export function permitsHeld(holding: Holding): number {
  let permits = 0;
  for (let scope = context.getStore(); scope; scope = scope.outer) {
    if (scope.isOpen && scope.isFor(holding)) permits += scope.permits;
  }
  return permits;
}

/** The lease of the innermost lock that the running code holds, and that others may wait for. */
export function heldLock(): Lease | undefined {
  return innermost((scope) => scope.isOpen && scope.reentrantHold?.holding !== undefined)?.lease;
}

/** @throws LockReentrancyError when the running code holds an atomic set, because it must not acquire anything else */
export function mustNotHoldAtomicSet(key: string): void {
  for (let scope = context.getStore(); scope; scope = scope.outer) {
    if (!scope.isOpen || scope.reentrantHold?.holding?.isOfAtomicSet !== true) continue;
    throw new LockReentrancyError(key, 'this call holds an atomic set, which must be all that it asks for');
  }
}

/**
 * Returns the lease that the running code holds, inside a decorated method or the work of `using`; the innermost when
 * nested. `undefined` elsewhere, and in work that was started there, was not awaited, and outlived it.
 */
export function currentLease(): Lease | undefined {
  return innermost((scope) => scope.isOpen)?.lease;
}

/** Yields every lease that the running code holds, the innermost first. */
export function* heldLeases(): Generator<Lease> {
  for (let scope = context.getStore(); scope; scope = scope.outer) {
    if (scope.isOpen && scope.lease) yield scope.lease;
  }
}

/**
 * Returns the lease of the running code, and throws unless it is still held. Call it right before a step that must not
 * be done twice. Needs no round trip.
 * @throws LockConfigurationError outside of any lease, LockLostError when the lease is lost or released
 */
export function assertHeld(): Lease {
  // If the innermost lease was released early, an outer one must not replace it: the caller means the innermost.
  const lease = innermost((scope) => scope.lease !== undefined)?.lease;
  if (!lease) throw new LockConfigurationError(`assertHeld() was called ${outside()}`);
  assertStands(lease);
  return lease;
}

/** Returns where the code runs that holds no lease, for messages. */
function outside(): string {
  return context.getStore()
    ? 'after the decorated method, or using(), that it was started in had ended: await there what is started there'
    : 'outside of a decorated method and of using()';
}

function innermost(matches: (scope: HoldScope) => boolean): HoldScope | undefined {
  let scope = context.getStore();
  while (scope && !matches(scope)) scope = scope.outer;
  return scope;
}

/** @throws the reason why the lease is not held any more */
export function assertStands(lease: Lease): void {
  if (!lease.isHeld()) throw reasonOfEnd(lease);
}

/** Returns the reason why the lease is not held any more. */
export function reasonOfEnd({ key, signal }: Lease): unknown {
  return signal.aborted ? signal.reason : new LockLostError(key, 'it was released');
}
