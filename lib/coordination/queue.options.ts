import { check, checkFields, checkLabel } from '../contract/check.js';
import type { Codec, CodecOption } from './codec.js';
import { resolveCodec } from './codec.js';
import type { WaitOptions } from './waiting.js';
import { checkWaitOptions } from './waiting.js';

/** The options of a queue. */
export interface QueueOptions<T> {
  /** The conversion of items to bytes. Default `'json'`. */
  readonly codec?: CodecOption<T> | undefined;
  /**
   * The maximum number of items in the queue, including items that are taken and not yet acknowledged. A put into a
   * full queue waits. It applies to the callers that set it. Default: any number.
   */
  readonly maxItems?: number | undefined;
}

export interface ResolvedQueueOptions<T> {
  readonly codec: Codec<T>;
  readonly maxItems: number | undefined;
}

/** The options of `take`. */
export interface TakeOptions extends WaitOptions {
  /** A name for tools that show which process has taken what. */
  readonly label?: string | undefined;
}

/** The options of `takeBatch`. */
export interface TakeBatchOptions extends TakeOptions {
  /** The maximum number of items, 1 to 1,000. */
  readonly atMost: number;
}

/** The options of `consume`. */
export interface ConsumeOptions extends Pick<TakeOptions, 'signal' | 'label'> {
  /** The number of items taken at once, 1 to 1,000. Items not handed out yet are put back at the end. Default 1. */
  readonly batch?: number | undefined;
}

/** The maximum size of a batch: all its items share a transaction, which is one message between the servers. */
export const MOST_AT_ONCE = 1_000;

// A list of the items is one reply of a server, which by default has at most a megabyte.
const MOST_ITEMS = 40_000;

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveQueueOptions<T>(options: QueueOptions<T>): ResolvedQueueOptions<T> {
  checkFields('queue options', options, ['codec', 'maxItems']);
  const { codec, maxItems } = options;
  if (maxItems !== undefined) checkCount('maxItems', maxItems, MOST_ITEMS);
  return { codec: resolveCodec(codec), maxItems };
}

/** Checks the options. @throws LockConfigurationError that names the wrong field */
export function checkTakeOptions(options: TakeOptions, more: readonly string[] = []): void {
  checkWaitOptions(options, ['waitMs', 'signal', 'label', ...more]);
  checkLabel(options.label);
}

/** Checks a number of items or members. @throws LockConfigurationError that names the wrong field */
export function checkCount(field: string, count: unknown, most: number): void {
  const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 1 && count <= most;
  check(isCount, field, count, `a whole number from 1 to ${most}`);
}
