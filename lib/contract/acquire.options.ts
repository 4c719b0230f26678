import { check, checkFields, checkLabel, checkMs, checkSignal } from './check.js';
import type { UsingOptions } from './lock.js';
import { PLACE } from './placed.js';
import type { Placed } from './placed.js';

/** Every option of an acquisition, checked and with its default filled in. */
export interface ResolvedAcquireOptions extends Placed {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly reentrant: boolean;
  readonly label: string | undefined;
  readonly onLost: 'throw' | 'ignore';
}

const FIELDS = ['waitMs', 'signal', 'reentrant', 'label', 'onLost'];

/** What a lock says for calls that do not. */
export interface AcquireDefaults {
  readonly waitMs: number;
  readonly reentrant?: boolean | undefined;
  readonly onLost?: ResolvedAcquireOptions['onLost'] | undefined;
}

/** Merges and checks the options of one call. @throws LockConfigurationError that names the wrong field */
export function resolveAcquireOptions(
  options: UsingOptions & Placed,
  defaults: AcquireDefaults,
): ResolvedAcquireOptions {
  checkFields('acquire options', options, FIELDS);
  const { waitMs = defaults.waitMs, signal, label } = options;
  const { reentrant = defaults.reentrant ?? true, onLost = defaults.onLost ?? 'throw' } = options;
  checkMs('waitMs', waitMs);
  checkSignal(signal);
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  checkLabel(label);
  checkOnLost(onLost);
  return { waitMs, signal, reentrant, label, onLost, [PLACE]: options[PLACE] };
}

/** @throws LockConfigurationError that names the field */
export function checkOnLost(onLost: unknown, field = 'onLost'): void {
  check(onLost === 'throw' || onLost === 'ignore', field, onLost, "'throw' or 'ignore'");
}
