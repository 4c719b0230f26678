import { check, checkFields, checkLabel, checkMs, checkSignal, PLACE } from './check.js';
import type { Placed } from './check.js';
import type { LockNotLeaderError, LockTimeoutError } from './errors.js';
import type { UsingOptions } from './lock.js';
import type { Line } from './lock-request.js';

/** Every option of an acquisition, checked and with its default filled in. */
export interface ResolvedAcquireOptions extends Placed {
  readonly waitMs: number;
  readonly signal: AbortSignal | undefined;
  readonly reentrant: boolean;
  readonly label: string | undefined;
  readonly onLost: 'throw' | 'ignore';
}

const FIELDS = ['waitMs', 'signal', 'reentrant', 'label', 'onLost'];

/** The values that a lock uses where a call sets none. */
interface AcquireDefaults {
  readonly waitMs: number;
  /** With `'none'`, no call of the lock may wait. */
  readonly line?: Line;
  readonly reentrant?: boolean | undefined;
  readonly onLost?: ResolvedAcquireOptions['onLost'] | undefined;
}

/** Options that were checked before, such as those of a decorator. A copy of them is checked again. */
export class CheckedOptions implements UsingOptions, Placed {
  readonly waitMs: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly reentrant: boolean | undefined;
  readonly label: string | undefined;
  readonly onLost: UsingOptions['onLost'];
  readonly [PLACE]: Placed[typeof PLACE];

  constructor({ waitMs, signal, reentrant, label, onLost, [PLACE]: place }: UsingOptions & Placed) {
    this.waitMs = waitMs;
    this.signal = signal;
    this.reentrant = reentrant;
    this.label = label;
    this.onLost = onLost;
    this[PLACE] = place;
  }
}

/**
 * Merges the options of one call with the defaults and checks them.
 * @param defaultWaitMs the wait of a call that sets none. Default: that of `defaults`
 * @throws LockConfigurationError that names the wrong field
 */
export function resolveAcquireOptions(
  options: UsingOptions & Placed,
  defaults: AcquireDefaults,
  defaultWaitMs = defaults.waitMs,
): ResolvedAcquireOptions {
  if (!(options instanceof CheckedOptions)) checkAcquireOptions(options);
  const { waitMs = defaultWaitMs, signal, label } = options;
  if (defaults.line === 'none') check(waitMs === 0, 'waitMs', waitMs, "0 where line is 'none'");
  const { reentrant = defaults.reentrant ?? true, onLost = defaults.onLost ?? 'throw' } = options;
  return { waitMs, signal, reentrant, label, onLost, [PLACE]: options[PLACE] };
}

function checkAcquireOptions(options: UsingOptions): void {
  checkFields('acquire options', options, FIELDS);
  const { waitMs = 0, signal, reentrant = true, label, onLost = 'throw' } = options;
  checkMs('waitMs', waitMs);
  checkSignal(signal);
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  checkLabel(label);
  checkOnLost(onLost);
}

/** @throws LockConfigurationError that names the field */
export function checkOnLost(onLost: unknown, field = 'onLost'): void {
  check(onLost === 'throw' || onLost === 'ignore', field, onLost, "'throw' or 'ignore'");
}

/** Limits on how long a lease may be held, and what happens after them. */
export interface HoldingOptions {
  /**
   * A lease that is held for this many milliseconds is logged once as a warning. The warning names its key, its label
   * and where it was acquired. `false`, 0 and `Infinity`: never. Default: the module's, 60 000.
   */
  readonly warnHeldMs?: number | false | undefined;
  /**
   * A lease that is held for this many milliseconds becomes `revoking`, and its `signal` aborts with a
   * `LockOverdueError`. After `overdueGraceMs` it is `lost`, and the key is granted to the next caller. `false`, 0 and
   * `Infinity`: no limit. Default: the module's, no limit.
   */
  readonly maxHeldMs?: number | false | undefined;
  /**
   * Time that the holder of an overdue lease has to stop, in milliseconds. `Infinity`: it keeps the key until it
   * releases it. Default: the module's, 5 000.
   */
  readonly overdueGraceMs?: number | undefined;
}

/** The holding limits in milliseconds; `Infinity` where there is no limit. */
export interface ResolvedHoldingOptions {
  readonly warnHeldMs: number;
  readonly maxHeldMs: number;
  readonly overdueGraceMs: number;
}

export const HOLDING_DEFAULTS = Object.freeze({ warnHeldMs: 60_000, maxHeldMs: Infinity, overdueGraceMs: 5_000 });

export const HOLDING_FIELDS = ['warnHeldMs', 'maxHeldMs', 'overdueGraceMs'] as const;

/** Returns only the holding options of an options object. */
export function pickHolding({ warnHeldMs, maxHeldMs, overdueGraceMs }: HoldingOptions): HoldingOptions {
  return {
    ...(warnHeldMs === undefined ? {} : { warnHeldMs }),
    ...(maxHeldMs === undefined ? {} : { maxHeldMs }),
    ...(overdueGraceMs === undefined ? {} : { overdueGraceMs }),
  };
}

/**
 * Merges the options with the module's and checks them.
 * @throws LockConfigurationError that names the wrong field, after `prefix`
 */
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

/** A call of a decorated method that could not acquire its lock. */
export interface ContentionContext {
  /** The key that another holder had, as the application wrote it. For a set, the key that could not be acquired. */
  readonly key: string;
  /** The call's label: `Class.method` unless the decorator sets one. */
  readonly label: string;
  /** The error: the wait has timed out, or the application does not lead. */
  readonly error: LockTimeoutError | LockNotLeaderError;
  /** The arguments of the call. */
  readonly args: readonly unknown[];
  /** The class that declares the method. */
  readonly className: string;
  /** The name of the method. */
  readonly methodName: string;
}

/**
 * Handles a call that cannot acquire its lock. Its return value becomes the call's result; what it throws rejects the
 * call. May be async.
 */
export type ContentionHandler<Result = unknown> = (context: ContentionContext) => Result;

/** The reaction of a call that cannot acquire its lock: throw, skip the method, or run a handler. */
export type OnContention = 'throw' | 'skip' | ContentionHandler;

export function isOnContention(value: unknown): value is OnContention {
  return value === 'throw' || value === 'skip' || typeof value === 'function';
}

export const ON_CONTENTION = "'throw', 'skip' or a function of the context";
