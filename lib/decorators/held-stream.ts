import { isObservable } from 'rxjs';
import { heldIterable } from './held-iterable.js';
import { heldObservable } from './held-observable.js';
import type { StreamEnd } from './stream-end.js';

/**
 * What the caller gets instead of the method's own stream, or `undefined` when the value is no stream. Must be called
 * in the async context that the source is to run in.
 */
export function heldStream(value: unknown, end: StreamEnd): object | undefined {
  if (isObservable(value)) return heldObservable(value, end);
  return isAsyncIterable(value) ? heldIterable(value, end) : undefined;
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
