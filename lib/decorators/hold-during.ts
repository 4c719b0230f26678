/**
 * The one mechanism behind every lock decorator. A call runs inside `lock.using`; if it returns a stream, `lock.using`
 * lasts until the stream has ended.
 */
import { Logger } from '@nestjs/common';
import { CheckedOptions } from '../contract/acquire.options.js';
import type { ContentionContext, OnContention } from '../contract/acquire.options.js';
import { PLACE } from '../contract/check.js';
import { LockNotLeaderError, LockTimeoutError } from '../contract/errors.js';
import type { Lock } from '../contract/lock.js';
import { RareLines } from '../service/rare-lines.js';
import { heldStream, isStream, StreamEnd } from './method-result.js';
import type { Stream } from './method-result.js';
import type { ResolvedLockingOptions } from './locking.options.js';
import { neverRun } from './locked-method.js';

/** A method that runs under a lock, for any number of calls. */
export interface MethodUnderLock extends Pick<ContentionContext, 'className' | 'methodName'> {
  /** The title for messages, such as `@DistributedLock on Orders.place`. */
  readonly title: string;
  readonly options: ResolvedLockingOptions;
  /** Finds the lock of one call. @throws LockConfigurationError, or what the key function throws */
  open(instance: unknown, args: unknown[]): OpenedLock;
  /** Runs the method without its lock. */
  run(instance: unknown, args: unknown[]): unknown;
}

/** The lock of one call. */
export interface OpenedLock {
  readonly lock: Pick<Lock, 'using'>;
  /** The connection's settings for options that the decorator leaves out. */
  readonly defaults: {
    readonly onContention?: OnContention | undefined;
    readonly onLost?: ResolvedLockingOptions['onLost'];
  };
}

const logger = new Logger('DistributedLock');
/** A method that is called every second, and skips, is normal. */
const skips = new RareLines();

/** One call. Its caller gets a stream while the lease is held, any other result when it has been released. */
interface LockedCall {
  readonly method: MethodUnderLock;
  readonly instance: unknown;
  readonly args: unknown[];
  readonly gone: AbortSignal | undefined;
  /** Passes the result to the caller, unless it has a stream. */
  resolve: ((result: unknown) => void) | undefined;
  /** The end of the stream that the caller has. */
  end: StreamEnd | undefined;
}

/**
 * Returns the method's result, or a stream that holds the lease until it ends.
 * @param gone aborts when the caller no longer wants the result
 */
export function holdDuring(
  method: MethodUnderLock,
  instance: unknown,
  args: unknown[],
  gone?: AbortSignal,
): Promise<unknown> {
  const call: LockedCall = { method, instance, args, gone, resolve: undefined, end: undefined };
  const outcome = underLock(call);
  const settle = () => {
    call.resolve?.(outcome);
    call.end?.follow(outcome);
  };
  outcome.then(settle, settle);
  return new Promise((resolve) => (call.resolve = resolve));
}

/** Returns the result of the method under the lock, or the outcome of `onContention` when it was not acquired. */
async function underLock(call: LockedCall): Promise<unknown> {
  const { method, instance, args, gone } = call;
  const { lock, defaults } = method.open(instance, args);
  const { reentrant, label, onLost = defaults.onLost ?? 'throw' } = method.options;
  const { onContention = defaults.onContention ?? 'throw' } = method.options;
  const { waitMs = onContention === 'skip' ? 0 : undefined } = method.options;
  const place = `${method.className}.${method.methodName}`;
  // The decorator has checked its options, and the module its own, when they were given.
  const options = new CheckedOptions({ reentrant, label, onLost, waitMs, signal: gone, [PLACE]: place });
  let isEntered = false;
  const work = async () => {
    isEntered = true;
    gone?.throwIfAborted();
    const value = await method.run(instance, args);
    return isStream(value) ? untilEnded(value, call) : value;
  };
  try {
    const result = await lock.using(work, options);
    if (isEntered) return result;
  } catch (error) {
    if (isEntered || !isContention(error)) throw error;
    return contended(call, onContention, error);
  }
  throw neverRun(method.title);
}

function isContention(error: unknown): error is ContentionContext['error'] {
  return error instanceof LockTimeoutError || error instanceof LockNotLeaderError;
}

/** Handles a call that could not acquire its lock. @throws the error, or what the handler throws */
function contended(
  { method: { className, methodName, options }, args }: LockedCall,
  onContention: OnContention,
  error: ContentionContext['error'],
): unknown {
  if (onContention === 'throw') throw error;
  const { label } = options;
  if (typeof onContention === 'function') {
    return onContention({ className, methodName, args, key: error.key ?? '', label, error });
  }
  // An election logs by itself, once for each change, that this application does not lead.
  if (error instanceof LockTimeoutError) {
    skips.tell(label ?? '', `${label} was skipped: ${error.message}`, (line) => logger.debug(line));
  }
  return undefined;
}

/** Gives the caller the stream that the method returned, and resolves when that has ended. */
async function untilEnded(value: Stream, call: LockedCall): Promise<void> {
  const end = new StreamEnd();
  const stream = heldStream(value, end);
  if (call.gone?.aborted) return undefined;
  call.gone?.addEventListener('abort', () => end.complete(), { once: true });
  call.end = end;
  call.resolve?.(stream);
  // Nothing here may keep the stream alive: only the garbage collector notices a caller that drops it.
  call.resolve = undefined;
  return end.reached;
}
