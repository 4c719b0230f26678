import { check, checkFields, checkMs } from '../../contract/check.js';

/**
 * The conditions that the application finds.
 * - `'free'`: there are no other contenders.
 * - `'contended'`: other contenders hold the keys, and lead the elections of these names, until the test releases them.
 * - `'unavailable'`: no server answers.
 */
export type LockTestingMode = 'free' | 'contended' | 'unavailable';

/** The conditions under which the application is tested. */
export interface LockTestingOptions {
  /** The conditions at the start. Default `'free'`. */
  readonly mode?: LockTestingMode | undefined;
  /**
   * The keys (names of elections) that other contenders hold with mode `'contended'`. Default: every key that is asked
   * for.
   */
  readonly keys?: readonly string[] | undefined;
  /**
   * The longest wait of any call, in milliseconds, whatever the call or its decorator specifies. It saves a test from
   * waiting for a time-out. Default `Infinity`.
   */
  readonly longestWaitMs?: number | undefined;
}

export type ResolvedLockTestingOptions = Required<Omit<LockTestingOptions, 'keys'>> & {
  /** `undefined` means all keys. */
  readonly keys: readonly string[] | undefined;
};

export const DEFAULTS = Object.freeze({ mode: 'free', longestWaitMs: Infinity } as const);

/** The `LockModule` options that a test need not specify. */
export const MODULE_DEFAULTS = Object.freeze({
  service: 'test',
  connectOnStart: 'background',
  drainTimeoutMs: 0,
} as const);

export const LOCK_TESTING_FIELDS = ['mode', 'keys', 'longestWaitMs'] as const;

const MODES: readonly unknown[] = ['free', 'contended', 'unavailable'];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveLockTestingOptions(options: LockTestingOptions): ResolvedLockTestingOptions {
  checkFields('LockTesting options', options, LOCK_TESTING_FIELDS);
  const { mode = DEFAULTS.mode, keys, longestWaitMs = DEFAULTS.longestWaitMs } = options;
  check(MODES.includes(mode), 'mode', mode, "'free', 'contended' or 'unavailable'");
  check(keys === undefined || Array.isArray(keys), 'keys', keys, 'an array of keys');
  check(keys === undefined || mode === 'contended', 'keys', keys, "undefined, unless mode is 'contended'");
  checkMs('longestWaitMs', longestWaitMs);
  return { mode, keys, longestWaitMs };
}
