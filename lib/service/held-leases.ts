import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallScope } from '../composite/multi-lock.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { channels } from '../contract/channels.js';
import { PLACE } from '../contract/check.js';
import { LockConfigurationError, LockError, LockLostError, LockReentrancyError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type { Lease } from '../contract/lease.js';
import { placed } from './call-site.js';
import type { HeldTarget, HoldWatch } from './hold-watch.js';
import { watchSet } from './hold-watch.js';
import { observedWork } from './observation.js';
import { HoldFrame, StayingLease, ReentrantHold } from './reentrant-hold.js';
import type { Holding, HoldShare } from './reentrant-hold.js';

const context = new AsyncLocalStorage<HoldFrame | undefined>();

/** Returns the `HoldFrame` of the innermost open hold of this key in the async context. */
export function frameHolding(holding: Holding): HoldFrame | undefined {
  return innermost((frame) => frame.isOpen && frame.isFor(holding));
}

/** Returns the number of permits of a semaphore that this async context holds. */
export function permitsHeld(holding: Holding): number {
  let permits = 0;
  for (let frame = context.getStore(); frame; frame = frame.outer) {
    if (frame.isOpen && frame.isFor(holding)) permits += frame.permits;
  }
  return permits;
}

/** A lease that a re-entrant hold can be created for. */
type ReentrantLease = Lease & Partial<Pick<GrantedLease, 'downgrade' | 'addFollower'>>;

/** Runs `work` inside a new re-entrant hold of `granted`, which is released when the work has ended. */
export function runHolding<T>(
  granted: ReentrantLease,
  holding: Holding,
  work: (lease: Lease) => T | Promise<T>,
): Promise<T> {
  const giveBack = () => granted.release();
  const downgrade = async () => granted.downgrade?.();
  const onLost = (lose: () => void) => granted.addFollower?.({ suspend() {}, resume() {}, revoke() {}, lose });
  const reentrantHold = new ReentrantHold(granted, holding, { giveBack, downgrade, onLost });
  const share = reentrantHold.enter(granted.mode);
  // Others may continue to read when a writer releases its lease early.
  const lease = granted.mode === 'write' ? new StayingLease(reentrantHold, share, 'write') : granted;
  return runInside(
    reentrantHold,
    lease,
    () => (channels.hold.hasSubscribers ? observedWork(granted, () => work(lease)) : work(lease)),
    share,
  );
}

/** One lease of a set, and its key. */
interface HeldMember {
  readonly lease: Lease;
  readonly holding: Holding;
}

/**
 * Runs `work` inside new re-entrant holds of all members, with `set` as the current lease. They are released together.
 */
export async function runHoldingAll<T>(
  members: readonly HeldMember[],
  set: Lease,
  work: () => T | Promise<T>,
): Promise<T> {
  const released: Promise<void>[] = [];
  const enter = members.reduceRight<() => Promise<T>>(
    (inner, { lease, holding }) => {
      // Not one after the other: releases in one turn are one transaction.
      const giveBack = async () => void released.push(lease.release());
      return () => runInside(new ReentrantHold(lease, holding, { giveBack }), lease, inner);
    },
    () => runUnder(set, channels.hold.hasSubscribers ? observed(members, work) : work),
  );
  try {
    return await enter();
  } finally {
    await Promise.all(released);
  }
}

/** Returns the work inside what subscribers put around it for each member. */
function observed<T>(members: readonly HeldMember[], work: () => T): () => T {
  return members.reduceRight(
    (inner, { lease }) =>
      () =>
        observedWork(lease, inner),
    work,
  );
}

/** The lease of the innermost lock that the running code holds, and that others may wait for. */
export function heldLock(): Lease | undefined {
  return innermost((frame) => frame.isOpen && frame.reentrantHold?.holding !== undefined)?.lease;
}

/** @throws LockReentrancyError when the running code holds an atomic set, because it must not acquire anything else */
export function checkAsking(key: string): void {
  const set = innermost((frame) => frame.isOpen && frame.reentrantHold?.holding?.isOfAtomicSet === true);
  if (!set) return;
  throw new LockReentrancyError(key, 'this call holds an atomic set, which must be all that it asks for');
}

/** Runs `work` with `lease` as the current one. The code that acquired the lease releases it. */
export function runUnder<T>(lease: Lease, work: () => T | Promise<T>): Promise<T> {
  return runInside(new ReentrantHold(lease, undefined, { giveBack: async () => {} }), lease, work);
}

/** Runs `work` inside a re-entrant hold that is still open, with `lease` as the current one. */
export function runNested<T>(reentrantHold: ReentrantHold, lease: Lease, work: () => T | Promise<T>): Promise<T> {
  return runInside(reentrantHold, lease, work);
}

/**
 * Leases that are acquired while `work` runs. Each is held until the work has ended, and nested calls of the work
 * re-enter it. They are released together.
 */
export class HoldScope {
  readonly #frame = new HoldFrame(
    undefined,
    innermost((frame) => frame.isActive),
  );
  readonly #ends: (() => Promise<void>)[] = [];

  /** Runs `work` with the leases of the scope, including those that are added later. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return context.run(this.#frame, work);
  }

  /** @param set the current lease from now on */
  hold(members: readonly HeldMember[], set: Lease): void {
    const around = members.map(({ lease, holding }) => {
      const reentrantHold = new ReentrantHold(lease, holding, { giveBack: () => lease.release() });
      return { reentrantHold, lease, share: reentrantHold.enter(lease.mode) };
    });
    const inSet = new ReentrantHold(set, undefined, { giveBack: async () => {} });
    inSet.enter(set.mode);
    const frames = this.#frame.grow({ reentrantHold: inSet, lease: set }, around);
    around.forEach(({ share }, place) =>
      this.#ends.push(() => {
        frames[place]?.end();
        return share.leave();
      }),
    );
  }

  /** Releases all leases. Resolves when none of them blocks another contender any more. */
  async end(): Promise<void> {
    this.#frame.end();
    // Not one after the other: releases in one turn are one transaction.
    await Promise.all(this.#ends.splice(0).map((end) => end()));
  }
}

async function runInside<T>(
  reentrantHold: ReentrantHold,
  lease: Lease,
  work: () => T | Promise<T>,
  share: HoldShare = reentrantHold.enter(lease.mode),
): Promise<T> {
  const outer = innermost((frame) => frame.isActive);
  const frame = new HoldFrame({ reentrantHold, lease }, outer);
  try {
    return await context.run(frame, work);
  } finally {
    frame.end();
    await share.leave();
  }
}

/**
 * Returns the lease that the running code holds, inside a decorated method or the work of `using`; the innermost when
 * nested. `undefined` elsewhere, and in work that was started there, was not awaited, and outlived it.
 */
export function currentLease(): Lease | undefined {
  return innermost((frame) => frame.isOpen)?.lease;
}

/** Yields every lease that the running code holds, the innermost first. */
export function* heldLeases(): Generator<Lease> {
  for (let frame = context.getStore(); frame; frame = frame.outer) {
    if (frame.isOpen && frame.lease) yield frame.lease;
  }
}

/**
 * Returns the lease of the running code, and throws unless it is still held. Call it right before a step that must not
 * be done twice. Needs no round trip.
 * @throws LockConfigurationError outside of any lease, LockLostError when the lease is lost or released
 */
export function assertHeld(): Lease {
  // If the innermost lease was released early, an outer one must not replace it: the caller means the innermost.
  const lease = innermost((frame) => frame.lease !== undefined)?.lease;
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

function innermost(matches: (frame: HoldFrame) => boolean): HoldFrame | undefined {
  let frame = context.getStore();
  while (frame && !matches(frame)) frame = frame.outer;
  return frame;
}

/** @throws the reason why the lease is not held any more */
export function assertStands(lease: Lease): void {
  if (lease.isHeld()) return;
  throw lease.signal.aborted ? lease.signal.reason : new LockLostError(lease.key, 'it was released');
}

/**
 * Returns the work's result, unless the lease was lost before the work began, or while it ran and `onLost` is
 * `'throw'`. Work that ended because its lease's signal aborted rejects with the reason of the signal, not with the
 * `AbortError` that wraps it.
 */
export async function guarded<L extends Lease, T>(
  lease: L,
  { onLost }: Pick<ResolvedAcquireOptions, 'onLost'>,
  work: (lease: L) => T | Promise<T>,
): Promise<T> {
  assertStands(lease);
  const result = await call(work, lease);
  const isLost = !lease.isHeld() && lease.state === 'lost';
  if (isLost && onLost === 'throw') throw lease.signal.reason;
  return result;
}

async function call<L extends Lease, T>(work: (lease: L) => T | Promise<T>, lease: L): Promise<T> {
  try {
    return await work(lease);
  } catch (error) {
    throw abortReasonIn(error) ?? error;
  }
}

/** Node's own functions reject with an `AbortError`. Its cause is the reason of the signal that they were given. */
function abortReasonIn(error: unknown): LockError | undefined {
  if (!(error instanceof Error) || error.name !== 'AbortError') return undefined;
  return error.cause instanceof LockError ? error.cause : undefined;
}

/** Returns the call context for a lock that is made of others. @param target target of its sets */
export function callScope(watch: HoldWatch, target: Omit<HeldTarget, 'key'>): CallScope {
  return {
    enclose: runUnder,
    heldLeases,
    placed: (options, lock, verb) => placed(options, target, lock, verb),
    watch: (set, { label, [PLACE]: place }) => watchSet(watch, set, { ...target, key: set.key }, { label, place }),
  };
}
