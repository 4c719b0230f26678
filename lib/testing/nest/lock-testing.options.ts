import { check, checkFields, checkMs } from '../../contract/check.js';

/**
 * What the application meets.
 * - `'free'`: nobody else is there.
 * - `'contended'`: somebody else holds the keys, and leads the elections of these names, until the test has them let go.
 * - `'unavailable'`: no server answers.
 */
export type LockTestingMode = 'free' | 'contended' | 'unavailable';

export interface LockTestingOptions {
  /** Default `'free'`. */
  readonly mode?: LockTestingMode | undefined;
  /** Which keys (names of elections) somebody else has with mode `'contended'`. Default: whichever is asked for. */
  readonly keys?: readonly string[] | undefined;
  /**
   * No call waits for longer than this, whatever it or its decorator says, in milliseconds: so that a test need not wait
   * for a time-out. Default `Infinity`.
   */
  readonly longestWaitMs?: number | undefined;
}

export type ResolvedLockTestingOptions = Required<Omit<LockTestingOptions, 'keys'>> & {
  /** `undefined`: all of them. */
  readonly keys: readonly string[] | undefined;
};

export const DEFAULTS = Object.freeze({ mode: 'free', longestWaitMs: Infinity } as const);

/** Of what `LockModule` is told, what a test need not say. */
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
