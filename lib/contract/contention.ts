import type { LockNotLeaderError, LockTimeoutError } from './errors.js';

/** A call of a decorated method that could not have its lock. */
export interface ContentionContext {
  /** The key that somebody else held, as the application wrote it; of a set, the one that was not to be had. */
  readonly key: string;
  /** The call's label: `Class.method` unless the decorator says. */
  readonly label: string;
  readonly error: LockTimeoutError | LockNotLeaderError;
  /** The arguments of the call. */
  readonly args: readonly unknown[];
  /** The class that declares the method. */
  readonly className: string;
  readonly methodName: string;
}

/**
 * What a call does that can not have its lock: what this returns is the call's result, what it throws is what the call
 * rejects with. May be async.
 */
export type ContentionHandler<Result = unknown> = (context: ContentionContext) => Result;

/** What a call does that can not have its lock: fail, not happen, or what a handler says. */
export type OnContention = 'throw' | 'skip' | ContentionHandler;

/** Whether it is one. */
export function isOnContention(value: unknown): value is OnContention {
  return value === 'throw' || value === 'skip' || typeof value === 'function';
}

export const ON_CONTENTION = "'throw', 'skip' or a function of the context";
