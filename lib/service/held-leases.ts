import { AsyncLocalStorage } from 'node:async_hooks';
import type { ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { LockConfigurationError, LockLostError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';
import { Frame, Tenure } from './tenure.js';
import type { Holding } from './tenure.js';

const context = new AsyncLocalStorage<Frame | undefined>();

/** The innermost tenure of this async context that holds the key, through the frame that entered it. */
export function frameHolding(holding: Holding): Frame | undefined {
  return innermost((frame) => frame.isOpen && frame.isFor(holding));
}

/** Runs `work` inside a new tenure of `lease`, which is given back when it has ended. */
export function runHolding<T>(lease: Lease, holding: Holding, work: () => T | Promise<T>): Promise<T> {
  return runInside(new Tenure(lease, holding, () => lease.release()), lease, work);
}

/** Runs `work` with `lease` as the current one; whoever took it gives it back. */
export function runUnder<T>(lease: Lease, work: () => T | Promise<T>): Promise<T> {
  return runInside(new Tenure(lease, undefined, async () => {}), lease, work);
}

/** Runs `work` inside a tenure that is still open, with `lease` as the current one. */
export function runNested<T>(tenure: Tenure, lease: Lease, work: () => T | Promise<T>): Promise<T> {
  return runInside(tenure, lease, work);
}

async function runInside<T>(tenure: Tenure, lease: Lease, work: () => T | Promise<T>): Promise<T> {
  const outer = innermost((frame) => frame.isActive);
  const frame = new Frame({ tenure, lease }, outer);
  tenure.enter();
  try {
    return await context.run(frame, work);
  } finally {
    frame.end();
    await tenure.leave();
  }
}

/**
 * The lease that the running code holds, inside a decorated method or the work of `using`; the innermost when nested.
 * `undefined` elsewhere, also in work that was started there, not awaited, and outlived it.
 */
export function currentLease(): Lease | undefined {
  return innermost((frame) => frame.isOpen)?.lease;
}

/** Every lease that the running code holds, the innermost first. */
export function* heldLeases(): Generator<Lease> {
  for (let frame = context.getStore(); frame; frame = frame.outer) {
    if (frame.isOpen && frame.lease) yield frame.lease;
  }
}

/**
 * Throws unless the running code holds a lease that still stands; call it right before a step that must not be done
 * twice. Needs no round trip.
 * @throws LockConfigurationError outside of any lease, LockLostError when the lease is gone
 */
export function assertHeld(): Lease {
  // Not the next one further out when the innermost was released early: the caller means the one it is under.
  const lease = innermost((frame) => frame.isActive)?.lease;
  if (!lease) throw new LockConfigurationError('assertHeld() was called outside of a decorated method and of using()');
  assertStands(lease);
  return lease;
}

function innermost(matches: (frame: Frame) => boolean): Frame | undefined {
  let frame = context.getStore();
  while (frame && !matches(frame)) frame = frame.outer;
  return frame;
}

/** The work's result, unless the lease was lost before it began, or while it ran and the caller wants to know. */
export async function guarded<T>(
  lease: Lease,
  { onLost }: Pick<ResolvedAcquireOptions, 'onLost'>,
  work: (lease: Lease) => T | Promise<T>,
): Promise<T> {
  assertStands(lease);
  const result = await work(lease);
  const isLost = !lease.isHeld() && lease.state === 'lost';
  if (isLost && onLost === 'throw') throw lease.signal.reason;
  return result;
}

/** @throws why the lease does not stand any more */
export function assertStands(lease: Lease): void {
  if (lease.isHeld()) return;
  throw lease.signal.aborted ? lease.signal.reason : new LockLostError(lease.key, 'it was released');
}
