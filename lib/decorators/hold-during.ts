/**
 * The one mechanism behind every lock decorator: a call runs inside `lock.using`, and a call that returns a stream
 * stays inside until the stream has ended.
 */
import { Logger } from '@nestjs/common';
import { LockNotLeaderError, LockTimeoutError } from '../contract/errors.js';
import type { Lock } from '../contract/lock.js';
import { heldStream } from './held-stream.js';
import type { ResolvedLockingOptions } from './locking.options.js';
import { neverRun } from './stand-in.js';
import { StreamEnd } from './stream-end.js';

/** One call of a locked method. */
export interface LockedCall {
  /** `@DistributedLock on Orders.place`, for messages. */
  readonly title: string;
  readonly options: ResolvedLockingOptions;
  /** Finds the lock. @throws LockConfigurationError, or what the key function throws */
  lock(): Pick<Lock, 'using'>;
  /** Runs the method. */
  run(): unknown;
}

const logger = new Logger('DistributedLock');

/**
 * The method's result, or a stream that holds the lease until it ends.
 * @param gone aborts when nobody wants the result any more
 */
export async function holdDuring(call: LockedCall, gone?: AbortSignal): Promise<unknown> {
  const lock = call.lock();
  const handover = new Handover();
  const work = () => runWhileWanted(call, handover, gone);
  const { waitMs, reentrant, label, onLost } = call.options;
  const options = { reentrant, label, onLost, ...(waitMs !== undefined && { waitMs }), ...(gone && { signal: gone }) };
  return handover.orElse(underLock(call, (run) => lock.using(run, options), work));
}

/** The result of `work` under the lock; `undefined` where it was not to run this time. */
async function underLock(
  call: LockedCall,
  using: (work: () => unknown) => Promise<unknown>,
  work: () => unknown,
): Promise<unknown> {
  let isEntered = false;
  const entered = () => {
    isEntered = true;
    return work();
  };
  try {
    const result = await using(entered);
    if (isEntered) return result;
  } catch (error) {
    if (isEntered || !isSkippable(call, error)) throw error;
    // An election says by itself, once for each change, who does not lead.
    if (error instanceof LockTimeoutError) logger.debug(`${call.options.label} was skipped: ${error.message}`);
    return undefined;
  }
  throw neverRun(call.title);
}

function isSkippable(call: LockedCall, error: unknown): error is LockTimeoutError | LockNotLeaderError {
  const isContention = error instanceof LockTimeoutError || error instanceof LockNotLeaderError;
  return call.options.onContention === 'skip' && isContention;
}

async function runWhileWanted(call: LockedCall, handover: Handover, gone: AbortSignal | undefined): Promise<unknown> {
  gone?.throwIfAborted();
  const value = await call.run();
  const end = new StreamEnd();
  const stream = heldStream(value, end);
  if (!stream) return value;
  if (gone?.aborted) return undefined;
  gone?.addEventListener('abort', () => end.complete(), { once: true });
  handover.give(stream, end);
  return end.reached;
}

/** Gives the caller the result: a stream while the lease is held, everything else when it has been given back. */
class Handover {
  #resolve: ((result: unknown) => void) | undefined;
  #end: StreamEnd | undefined;

  give(stream: object, end: StreamEnd): void {
    this.#end = end;
    this.#resolve?.(stream);
    // Nothing here may keep the stream alive: a caller who drops it is noticed by the garbage collector only.
    this.#resolve = undefined;
  }

  orElse(outcome: Promise<unknown>): Promise<unknown> {
    const settle = () => this.#settle(outcome);
    outcome.then(settle, settle);
    return new Promise((resolve) => (this.#resolve = resolve));
  }

  #settle(outcome: Promise<unknown>): void {
    this.#resolve?.(outcome);
    this.#end?.follow(outcome);
  }
}
