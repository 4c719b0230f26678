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
import { heldStream, isStream, StreamEnd } from './held-stream.js';
import type { ResolvedLockingOptions } from './locking.options.js';
import { neverRun } from './locked-method.js';

/** One call of a locked method. */
export interface LockedCall {
  /** The title for messages, such as `@DistributedLock on Orders.place`. */
  readonly title: string;
  readonly options: ResolvedLockingOptions;
  /** The method that was called, and its arguments. */
  readonly method: Pick<ContentionContext, 'args' | 'className' | 'methodName'>;
  /** Finds the lock. @throws LockConfigurationError, or what the key function throws */
  open(): OpenedLock;
  /** Runs the method. */
  run(): unknown;
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

/**
 * Returns the method's result, or a stream that holds the lease until it ends.
 * @param gone aborts when the caller no longer wants the result
 */
export function holdDuring(call: LockedCall, gone?: AbortSignal): Promise<unknown> {
  const handover = new Handover();
  return handover.orElse(underLock(call, handover, gone));
}

/** Returns the result of the method under the lock, or the outcome of `onContention` when it was not acquired. */
async function underLock(call: LockedCall, handover: Handover, gone: AbortSignal | undefined): Promise<unknown> {
  const { lock, defaults } = call.open();
  const onContention = call.options.onContention ?? defaults.onContention ?? 'throw';
  let isEntered = false;
  const work = () => {
    isEntered = true;
    return runWhileWanted(call, handover, gone);
  };
  try {
    const result = await lock.using(work, usingOptions(call, onContention, defaults.onLost, gone));
    if (isEntered) return result;
  } catch (error) {
    if (isEntered || !isContention(error)) throw error;
    return contended(call, onContention, error);
  }
  throw neverRun(call.title);
}

/** The decorator has checked its options, and the module its own, when they were given. */
function usingOptions(
  { options, method: { className, methodName } }: LockedCall,
  onContention: OnContention,
  moduleOnLost: ResolvedLockingOptions['onLost'],
  signal: AbortSignal | undefined,
): CheckedOptions {
  const { reentrant, label, onLost = moduleOnLost ?? 'throw' } = options;
  const { waitMs = onContention === 'skip' ? 0 : undefined } = options;
  return new CheckedOptions({ reentrant, label, onLost, waitMs, signal, [PLACE]: `${className}.${methodName}` });
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
  if (!isStream(value)) return value;
  const end = new StreamEnd();
  const stream = heldStream(value, end);
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
