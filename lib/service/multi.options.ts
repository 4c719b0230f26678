import { check, checkFields } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import { HOLDING_FIELDS, pickHolding } from '../contract/holding.options.js';
import type { HoldingOptions } from '../contract/holding.options.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { SHARING_FIELDS } from './sharing.options.js';
import type { SharingOptions } from './sharing.options.js';

export interface MultiOptions extends SharingOptions, HoldingOptions {
  /**
   * `true`: stands in all lines from one transaction on, instead of one line after another, and each caller by itself.
   * Nobody holds a key while it has yet to line up for another. For keys whose users all ask for everything at once; see
   * docs/recipes/multi-lock.md. Default `false`.
   */
  readonly atomic?: boolean | undefined;
}

// All of them are in one message, and servers do not take more than a megabyte.
const MOST_ATOMIC_KEYS = 1_000;

/** Checks. @throws LockConfigurationError that names the wrong field */
export function resolveMultiOptions(
  keys: readonly string[],
  options: MultiOptions,
  backend: Pick<LockBackend, 'name' | 'acquireAll'>,
): MultiOptions {
  checkFields('multi-lock options', options, [...SHARING_FIELDS, ...HOLDING_FIELDS, 'atomic']);
  if (!Array.isArray(keys) || keys.length === 0) {
    throw new LockConfigurationError('keys must be an array of at least one key');
  }
  const { atomic = false } = options;
  check(typeof atomic === 'boolean', 'atomic', atomic, 'true or false');
  return atomic ? atomicOptions(keys, options, backend) : options;
}

function atomicOptions(
  keys: readonly string[],
  options: MultiOptions,
  backend: Pick<LockBackend, 'name' | 'acquireAll'>,
): MultiOptions {
  const { localLine, keepMs } = options;
  check(localLine !== true, 'localLine', localLine, 'false, or not be given, with atomic');
  check(keepMs === undefined || keepMs === 0, 'keepMs', keepMs, '0, or not be given, with atomic');
  if (!backend.acquireAll) throw new LockConfigurationError(`the backend ${backend.name} has no atomic multi-lock`);
  if (keys.length > MOST_ATOMIC_KEYS) {
    throw new LockConfigurationError(`keys must be at most ${MOST_ATOMIC_KEYS} with atomic, got ${keys.length}`);
  }
  return { atomic: true, localLine: false, keepMs: 0, ...pickHolding(options) };
}
