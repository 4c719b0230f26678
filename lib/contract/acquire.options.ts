import { check, checkFields, checkLabel, checkMs, checkSignal } from './check.js';
import type { UsingOptions } from './lock.js';

/** Every option of an acquisition, checked and with its default filled in. */
export interface ResolvedAcquireOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly reentrant: boolean;
  readonly label: string | undefined;
  readonly onLost: 'throw' | 'ignore';
}

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
  checkSignal(signal);
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  checkLabel(label);
  check(onLost === 'throw' || onLost === 'ignore', 'onLost', onLost, "'throw' or 'ignore'");
  return { waitMs, signal, reentrant, label, onLost };
}
