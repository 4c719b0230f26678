import { AsyncLocalStorage } from 'node:async_hooks';
import { orAbort } from '../async/abort.js';
import type { Dispose } from '../async/abort.js';
import { LockConfigurationError, LockLostError } from '../contract/errors.js';
import type { Lease } from '../contract/lease.js';

/** What identifies a key in this process: the backend that grants it and the name that the backend gives it. */
export interface Holding {
  readonly scope: object;
  readonly identity: string;
}

/** One granted lease and those inside it: given back when the last of them has left, so nobody works on unlocked. */
class Tenure {
  #inside = 0;

  constructor(
    readonly lease: Lease,
    readonly holding: Holding | undefined,
    readonly giveBack: () => Promise<void>,
  ) {}

  get isOpen(): boolean {
    return this.#inside > 0;
  }

  enter(): void {
    this.#inside++;
  }

  async leave(): Promise<void> {
    this.#inside--;
    if (this.#inside === 0) await this.giveBack();
  }
}

/** A stretch of one async context that runs inside a tenure. */
export class Frame {
  active = true;
  #inLine = 0;
  #lastInLine: Promise<void> = Promise.resolve();

  constructor(
    readonly tenure: Tenure,
    readonly outer: Frame | undefined,
  ) {}

  get lease(): Lease {
    return this.tenure.lease;
  }

  /** Whether work may still enter: the frame has not ended, nor has its lease been given back. */
  get isOpen(): boolean {
    return this.active && this.tenure.isOpen;
  }

  /** Whether a nested call is inside already. */
  get isOccupied(): boolean {
    return this.#inLine > 0;
  }

  isFor(holding: Holding): boolean {
    const own = this.tenure.holding;
    return own !== undefined && own.scope === holding.scope && own.identity === holding.identity;
  }

  /** Waits for the siblings that came before: they share the lease, but run one after another. */
  async turn(signal: AbortSignal): Promise<Dispose> {
    const previous = this.#lastInLine;
    let pass!: (to?: Promise<void>) => void;
    this.#lastInLine = new Promise((resolve) => (pass = resolve));
    this.#inLine++;
    const leave = () => {
      this.#inLine--;
      pass(previous);
    };
    return orAbort(previous, signal).then(
      () => leave,
      (reason: unknown) => {
        leave();
        throw reason;
      },
    );
  }
}

const context = new AsyncLocalStorage<Frame | undefined>();

/** The innermost frame of this async context that holds the key and has not ended. */
export function frameHolding(holding: Holding): Frame | undefined {
  for (let frame = context.getStore(); frame; frame = frame.outer) {
    if (frame.active && frame.isFor(holding)) return frame;
  }
  return undefined;
}

/** Runs `work` inside a new tenure of `lease`, which is given back when it has ended. */
export function runHolding<T>(lease: Lease, holding: Holding, work: () => T | Promise<T>): Promise<T> {
  return runInside(new Tenure(lease, holding, () => lease.release()), work);
}

/** Runs `work` with `lease` as the current one; whoever took it gives it back. */
export function runUnder<T>(lease: Lease, work: () => T | Promise<T>): Promise<T> {
  return runInside(new Tenure(lease, undefined, async () => {}), work);
}

/** Runs `work` inside the tenure of a frame that is still open. */
export function runNested<T>(frame: Frame, work: () => T | Promise<T>): Promise<T> {
  return runInside(frame.tenure, work);
}

async function runInside<T>(tenure: Tenure, work: () => T | Promise<T>): Promise<T> {
  const frame = new Frame(tenure, context.getStore());
  tenure.enter();
  try {
    return await context.run(frame, work);
  } finally {
    frame.active = false;
    await tenure.leave();
  }
}

/**
 * The lease that the running code holds, inside a decorated method or the work of `using`; the innermost when nested.
 * `undefined` elsewhere, also in work that was started there, not awaited, and outlived it.
 */
export function currentLease(): Lease | undefined {
  for (let frame = context.getStore(); frame; frame = frame.outer) {
    if (frame.active) return frame.lease;
  }
  return undefined;
}

/**
 * Throws unless the running code holds a lease that still stands; call it right before a step that must not be done
 * twice. Needs no round trip.
 * @throws LockConfigurationError outside of any lease, LockLostError when the lease is gone
 */
export function assertHeld(): Lease {
  const lease = currentLease();
  if (!lease) throw new LockConfigurationError('assertHeld() was called outside of a decorated method and of using()');
  if (!lease.isHeld()) throw lossOf(lease);
  return lease;
}

/** Why a lease that no longer stands is gone. */
export function lossOf(lease: Lease): unknown {
  return lease.signal.aborted ? lease.signal.reason : new LockLostError(lease.key, 'it was released');
}
