import { check, checkMs } from './check.js';

/** For how long a lease may be held, and what happens when it is held for longer. */
export interface HoldingOptions {
  /**
   * A lease that is held for this many milliseconds is warned about, once, with its key, its label and where it was acquired.
   * `false`, 0 and `Infinity`: never. Default: the module's, 60 000.
   */
  readonly warnHeldMs?: number | false | undefined;
  /**
   * A lease that is held for this many milliseconds turns `revoking`, and its `signal` aborts with a `LockOverdueError`. After
   * `overdueGraceMs` it is `lost`, and the key goes to the next caller. `false`, 0 and `Infinity`: no limit. Default: the
   * module's, no limit.
   */
  readonly maxHeldMs?: number | false | undefined;
  /**
   * How long the holder of an overdue lease may take to stop, in milliseconds. `Infinity`: it keeps the key for as long as it
   * likes. Default: the module's, 5 000.
   */
  readonly overdueGraceMs?: number | undefined;
}

/** In milliseconds; `Infinity` where there is no limit. */
export interface ResolvedHoldingOptions {
  readonly warnHeldMs: number;
  readonly maxHeldMs: number;
  readonly overdueGraceMs: number;
}

export const HOLDING_DEFAULTS = Object.freeze({ warnHeldMs: 60_000, maxHeldMs: Infinity, overdueGraceMs: 5_000 });

export const UNLIMITED: ResolvedHoldingOptions = { ...HOLDING_DEFAULTS, warnHeldMs: Infinity };

export const HOLDING_FIELDS = ['warnHeldMs', 'maxHeldMs', 'overdueGraceMs'] as const;

/** Of any options, these. */
export function pickHolding({ warnHeldMs, maxHeldMs, overdueGraceMs }: HoldingOptions): HoldingOptions {
  return {
    ...(warnHeldMs === undefined ? {} : { warnHeldMs }),
    ...(maxHeldMs === undefined ? {} : { maxHeldMs }),
    ...(overdueGraceMs === undefined ? {} : { overdueGraceMs }),
  };
}

/** Merges with the module's and checks. @throws LockConfigurationError that names the wrong field, after `prefix` */
export function resolveHoldingOptions(
  options: HoldingOptions,
  defaults: ResolvedHoldingOptions,
  prefix = '',
): ResolvedHoldingOptions {
  const { overdueGraceMs = defaults.overdueGraceMs } = options;
  checkMs(`${prefix}overdueGraceMs`, overdueGraceMs);
  return {
    warnHeldMs: limitOf(`${prefix}warnHeldMs`, options.warnHeldMs ?? defaults.warnHeldMs),
    maxHeldMs: limitOf(`${prefix}maxHeldMs`, options.maxHeldMs ?? defaults.maxHeldMs),
    overdueGraceMs,
  };
}

function limitOf(field: string, ms: number | false): number {
  const allowed = ms === false || (typeof ms === 'number' && ms >= 0);
  check(allowed, field, ms, 'a number of milliseconds, or false for no limit');
  return ms === false || ms === 0 ? Infinity : ms;
}
