import { check, checkFields, checkMs } from './check.js';
import type { UsingOptions } from './lock.js';

/** Every option of an acquisition, checked and with its default filled in. */
export interface ResolvedAcquireOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly reentrant: boolean;
  readonly label: string | undefined;
  readonly onLost: 'throw' | 'ignore';
}

// It travels with every contender and is kept in its znode.
const LONGEST_LABEL = 256;

const FIELDS = ['waitMs', 'signal', 'reentrant', 'label', 'onLost'];

/** Merges and checks the options of one call. @throws LockConfigurationError that names the wrong field */
export function resolveAcquireOptions(
  options: UsingOptions,
  defaultWaitMs: number,
  isReentrant = true,
): ResolvedAcquireOptions {
  checkFields('acquire options', options, FIELDS);
  const { waitMs = defaultWaitMs, signal, reentrant = isReentrant, label, onLost = 'throw' } = options;
  checkMs('waitMs', waitMs);
  check(signal === undefined || signal instanceof AbortSignal, 'signal', signal, 'an AbortSignal');
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  const isLabel = label === undefined || (typeof label === 'string' && label.length <= LONGEST_LABEL);
  check(isLabel, 'label', label, `a string of at most ${LONGEST_LABEL} characters`);
  check(onLost === 'throw' || onLost === 'ignore', 'onLost', onLost, "'throw' or 'ignore'");
  return { waitMs, signal, reentrant, label, onLost };
}
