import type { CallScope } from '../composite/multi-lock.js';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { channels } from '../contract/channels.js';
import { PLACE } from '../contract/check.js';
import { LockError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import { placed, watchSet } from './hold-watch.js';
import { heldLeases, HoldScope, notReleased, reasonOfEnd, ReentrantHold, StayingLease } from './hold-scope.js';
import type { HeldTarget, HoldWatch } from './hold-watch.js';
import type { Holding, HoldSpan, ReentrantLease } from './hold-scope.js';
import { observedWork } from './observation.js';

/** The reaction to a lease that is lost while the work runs. */
type GuardOptions = Pick<ResolvedAcquireOptions, 'onLost'>;

/** Runs `work`, guarded, inside a new re-entrant hold of `granted`, which is released when the work has ended. */
export function runHolding<T>(
  granted: ReentrantLease,
  holding: Holding,
  options: GuardOptions,
  work: (lease: Lease) => T | Promise<T>,
): Promise<T> {
  const reentrantHold = new ReentrantHold(granted, holding);
  // Others may continue to read when a writer releases its lease early.
  const participant = granted.mode === 'write' ? new StayingLease(reentrantHold, 'write') : undefined;
  const lease = participant ?? granted;
  const run = () => guarded(lease, options, work);
  const wrapped = channels.hold.hasSubscribers ? () => observedWork(granted, run) : run;
  return runInside({ reentrantHold, lease }, wrapped, { participant });
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
      return () => runInside({ reentrantHold: new ReentrantHold(lease, holding, giveBack), lease }, inner);
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

/** Runs `work` with `lease` as the current one. The code that acquired the lease releases it. */
export function runUnder<T>(lease: Lease, work: () => T | Promise<T>): Promise<T> {
  return runInside({ reentrantHold: notReleased(lease), lease }, work);
}

/** The parts of `runInside` that it makes itself unless they are given. */
interface Inside {
  /** The participant, if it may leave earlier. */
  readonly participant?: StayingLease | undefined;
  /** New scope of the work, which ends with it. */
  readonly scope?: HoldScope;
}

/** Runs `work` as a participant that has entered a re-entrant hold, and then leaves. The current lease is `span.lease`. */
export async function runInside<T>(
  span: HoldSpan,
  work: () => T | Promise<T>,
  { participant, scope = new HoldScope(span) }: Inside = {},
): Promise<T> {
  const { reentrantHold, lease } = span;
  const { mode } = lease;
  try {
    return await scope.run(work);
  } finally {
    scope.end();
    await (participant ? participant.leave() : reentrantHold.leave(mode));
  }
}

/**
 * Returns the work's result, unless the lease was lost before the work began, or while it ran and `onLost` is
 * `'throw'`. Work that ended because its lease's signal aborted rejects with the reason of the signal, not with the
 * `AbortError` that wraps it.
 */
export async function guarded<L extends Lease, T>(
  lease: L,
  { onLost }: GuardOptions,
  work: (lease: L) => T | Promise<T>,
): Promise<T> {
  if (!lease.isHeld()) throw reasonOfEnd(lease);
  let result: T;
  try {
    result = await work(lease);
  } catch (error) {
    throw abortReasonIn(error) ?? error;
  }
  const isLost = !lease.isHeld() && lease.state === 'lost';
  if (isLost && onLost === 'throw') throw lease.signal.reason;
  return result;
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
