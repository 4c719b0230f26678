import { check, checkFields, checkLabel } from '../contract/check.js';
import type { Codec, CodecOption } from './codec.js';
import { resolveCodec } from './codec.js';
import type { WaitOptions } from './waiting.js';
import { checkWaitOptions } from './waiting.js';

export interface QueueOptions<T> {
  /** How items become bytes. Default `'json'`. */
  readonly codec?: CodecOption<T> | undefined;
  /**
   * How many items the queue may have, those included that somebody has taken: whoever puts into a full one waits. Counts for
   * those who name it. Default: any number.
   */
  readonly maxItems?: number | undefined;
}

export interface ResolvedQueueOptions<T> {
  readonly codec: Codec<T>;
  readonly maxItems: number | undefined;
}

export interface TakeOptions extends WaitOptions {
  /** A name for whoever looks at who has taken what. */
  readonly label?: string | undefined;
}

export interface TakeBatchOptions extends TakeOptions {
  /** How many items at most, 1 to 1,000. */
  readonly atMost: number;
}

export interface ConsumeOptions extends Pick<TakeOptions, 'signal' | 'label'> {
  /** How many items are taken at once, 1 to 1,000; those not handed out yet are put back at the end. Default 1. */
  readonly batch?: number | undefined;
}

/** All items of a batch share a transaction, which is one message between the servers. */
export const MOST_AT_ONCE = 1_000;

// A list of the items is one answer of a server, of at most a megabyte unless it was told otherwise.
const MOST_ITEMS = 40_000;

/** @throws LockConfigurationError that names the wrong field */
export function resolveQueueOptions<T>(options: QueueOptions<T>): ResolvedQueueOptions<T> {
  checkFields('queue options', options, ['codec', 'maxItems']);
  const { codec, maxItems } = options;
  if (maxItems !== undefined) checkCount('maxItems', maxItems, MOST_ITEMS);
  return { codec: resolveCodec(codec), maxItems };
}

/** @throws LockConfigurationError that names the wrong field */
export function checkTakeOptions(options: TakeOptions, more: readonly string[] = []): void {
  checkWaitOptions(options, ['waitMs', 'signal', 'label', ...more]);
  checkLabel(options.label);
}

/** @throws LockConfigurationError that names the wrong field */
export function checkCount(field: string, count: unknown, most: number): void {
  const isCount = typeof count === 'number' && Number.isInteger(count) && count >= 1 && count <= most;
  check(isCount, field, count, `a whole number from 1 to ${most}`);
}
