/**
 * The one mechanism behind every lock decorator. A call runs inside `lock.using`; if it returns a stream, `lock.using`
 * lasts until the stream has ended.
 */
import { Logger } from '@nestjs/common';
import type { ContentionContext, OnContention } from '../contract/acquire.options.js';
import { LockNotLeaderError, LockTimeoutError } from '../contract/errors.js';
import type { Lock } from '../contract/lock.js';
import { RareLines } from '../service/rare-lines.js';
import { PLACE } from '../contract/check.js';
import { heldStream, StreamEnd } from './held-stream.js';
import type { ResolvedLockingOptions } from './locking.options.js';
import { neverRun } from './locked-method.js';

/** One call of a locked method. */
export interface LockedCall {
  /** The title for messages, such as `@DistributedLock on Orders.place`. */
  readonly title: string;
  readonly options: ResolvedLockingOptions;
  /** Finds the lock. @throws LockConfigurationError, or what the key function throws */
  lock(): Pick<Lock, 'using'>;
  /** The connection's settings for options that the decorator leaves out. Called after `lock`. */
  defaults(): CallDefaults;
  /** Runs the method. */
  run(): unknown;
  /** The method that was called, and its arguments. */
  readonly method: Pick<ContentionContext, 'args' | 'className' | 'methodName'>;
}

/** The settings for calls whose decorator leaves them out. */
export interface CallDefaults {
  readonly onContention?: OnContention | undefined;
  readonly onLost?: ResolvedLockingOptions['onLost'];
}

const logger = new Logger('DistributedLock');
/** A method that is called every second, and skips, is normal. */
const skips = new RareLines();

/**
 * Returns the method's result, or a stream that holds the lease until it ends.
 * @param gone aborts when the caller no longer wants the result
 */
export async function holdDuring(call: LockedCall, gone?: AbortSignal): Promise<unknown> {
  const lock = call.lock();
  const handover = new Handover();
  const work = () => runWhileWanted(call, handover, gone);
  const defaults = call.defaults();
  const onContention = call.options.onContention ?? defaults.onContention ?? 'throw';
  const options = { ...usingOptions(call, defaults, onContention), ...(gone && { signal: gone }) };
  return handover.orElse(underLock(call, onContention, (run) => lock.using(run, options), work));
}

function usingOptions(call: LockedCall, defaults: CallDefaults, onContention: OnContention) {
  const { reentrant, label, onLost = defaults.onLost ?? 'throw' } = call.options;
  const { waitMs = onContention === 'skip' ? 0 : undefined } = call.options;
  const { className, methodName } = call.method;
  return { reentrant, label, onLost, [PLACE]: `${className}.${methodName}`, ...(waitMs !== undefined && { waitMs }) };
}

/** Returns the result of `work` under the lock, or the outcome of `onContention` when the lock was not acquired. */
async function underLock(
  call: LockedCall,
  onContention: OnContention,
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
    if (isEntered || !isContention(error)) throw error;
    return contended(call, onContention, error);
  }
  throw neverRun(call.title);
}

function isContention(error: unknown): error is ContentionContext['error'] {
  return error instanceof LockTimeoutError || error instanceof LockNotLeaderError;
}

/** Handles a call that could not acquire its lock. @throws the error, or what the handler throws */
function contended(call: LockedCall, onContention: OnContention, error: ContentionContext['error']): unknown {
  if (onContention === 'throw') throw error;
  const { label } = call.options;
  if (typeof onContention === 'function') {
    return onContention({ ...call.method, key: error.key ?? '', label, error });
  }
  // An election logs by itself, once for each change, that this application does not lead.
  if (error instanceof LockTimeoutError) {
    skips.tell(label ?? '', `${label} was skipped: ${error.message}`, (line) => logger.debug(line));
  }
  return undefined;
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

/** Passes the result to the caller: a stream while the lease is held, any other result when it has been released. */
class Handover {
  #resolve: ((result: unknown) => void) | undefined;
  #end: StreamEnd | undefined;

  give(stream: object, end: StreamEnd): void {
    this.#end = end;
    this.#resolve?.(stream);
    // Nothing here may keep the stream alive: only the garbage collector notices a caller that drops it.
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
