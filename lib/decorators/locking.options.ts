import {
  checkOnLost,
  isOnContention,
  ON_CONTENTION,
  HOLDING_DEFAULTS,
  HOLDING_FIELDS,
  pickHolding,
  resolveHoldingOptions,
} from '../contract/acquire.options.js';
import { check, checkFields, checkLabel, checkMs } from '../contract/check.js';
import type { OnContention, HoldingOptions } from '../contract/acquire.options.js';
import type { MutexOptions, SharingOptions } from '../service/lock-service.options.js';
import { checkAtomicSharing } from '../service/multi-locks.js';
import type { MultiOptions } from '../service/multi-locks.js';
import { pickSharing, resolveSharingOptions, SHARING_DEFAULTS } from '../service/lock-service.options.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

/** The options of every lock decorator. */
export interface LockingOptions extends HoldingOptions {
  /**
   * The time that a call waits in the wait queue, in milliseconds; 0 asks once. Default: the module's `waitMs`, and 0
   * with `onContention: 'skip'`.
   */
  readonly waitMs?: number | undefined;
  /**
   * The behaviour of a call when another holder had the key for all of `waitMs`. Default: the module's, `'throw'`.
   * - `'throw'`: rejects with a `LockTimeoutError`.
   * - `'skip'`: does not run the method, and resolves to `undefined`; for jobs that another instance does.
   * - a function of the context: does not run the method. The call returns the function's result, or rejects with its
   *   error. For an `Observable` the function may return the value or an `Observable`, for an `async *` method an async
   *   iterable.
   *
   * A `LockTimeoutError` that the method itself throws is not contention and always passes through.
   */
  readonly onContention?: OnContention | undefined;
  /**
   * The behaviour when the lease was lost while the method ran. `'throw'` rejects with `LockLostError` (or
   * `LockOverdueError`); `'ignore'` returns the result. Default: the module's, `'throw'`.
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /** A name for logs and for tools that list the contenders. Default `Class.method`. */
  readonly label?: string | undefined;
  /** `false`: acquiring a key that this call already holds is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
  /** The name of the `LockModule` connection. Default `'default'`. */
  readonly connection?: string | undefined;
}

/** The options of `DistributedLock`. */
export interface DistributedLockOptions extends LockingOptions, MutexOptions, Pick<MultiOptions, 'atomic'> {}

/** The options that are `undefined` when the connection's setting applies. */
type OfConnection = 'waitMs' | 'onContention' | 'onLost';

/** Every option with its default filled in, except those that the connection decides. */
export interface ResolvedLockingOptions extends Required<
  Omit<DistributedLockOptions, OfConnection | keyof SharingOptions | keyof HoldingOptions>
> {
  readonly waitMs: number | undefined;
  readonly onContention: OnContention | undefined;
  readonly onLost: DistributedLockOptions['onLost'];
  /** The options as given; a missing one takes the connection's setting. */
  readonly sharing: SharingOptions;
  readonly holding: HoldingOptions;
}

export const DEFAULTS = Object.freeze({
  reentrant: true,
  connection: DEFAULT_CONNECTION,
  line: 'fifo',
  atomic: false,
} as const);

/** The fields of `LockingOptions`. A decorator with more options adds its own fields. */
export const LOCKING_FIELDS = [
  'waitMs',
  'onContention',
  'onLost',
  'label',
  'reentrant',
  'connection',
  ...HOLDING_FIELDS,
] as const;

/**
 * Merges with the defaults and checks.
 * @param at the decorated place, for messages
 * @throws LockConfigurationError that names the place and the wrong field
 */
export function resolveLockingOptions(
  at: { readonly title: string; readonly place: string },
  options: DistributedLockOptions,
  fields: readonly string[],
): ResolvedLockingOptions {
  checkFields(at.title, options, fields, `${at.title}: the options`);
  const { onContention, onLost, line = DEFAULTS.line, label = at.place, atomic = DEFAULTS.atomic } = options;
  const { reentrant = DEFAULTS.reentrant, connection = DEFAULTS.connection } = options;
  const { waitMs = onContention === 'skip' || line === 'none' ? 0 : undefined } = options;
  const lock = { line, atomic, sharing: pickSharing(options), holding: pickHolding(options) };
  const resolved = { waitMs, onContention, onLost, label, reentrant, connection, ...lock };
  checkValues(`${at.title}: `, resolved);
  return resolved;
}

function checkValues(prefix: string, options: ResolvedLockingOptions): void {
  const { waitMs, onContention, onLost, label, reentrant, connection, line, atomic } = options;
  const field = (name: string) => prefix + name;
  if (waitMs !== undefined) checkMs(field('waitMs'), waitMs);
  const isKnown = onContention === undefined || isOnContention(onContention);
  check(isKnown, field('onContention'), onContention, ON_CONTENTION);
  if (onLost !== undefined) checkOnLost(onLost, field('onLost'));
  checkLabel(label, field('label'));
  check(typeof reentrant === 'boolean', field('reentrant'), reentrant, 'true or false');
  check(typeof connection === 'string' && connection !== '', field('connection'), connection, 'a name');
  check(['fifo', 'none'].includes(line), field('line'), line, "'fifo' or 'none'");
  check(typeof atomic === 'boolean', field('atomic'), atomic, 'true or false');
  check(!atomic || line === 'fifo', field('atomic'), atomic, "false where line is 'none'");
  resolveSharingOptions(options.sharing, SHARING_DEFAULTS, prefix);
  if (atomic) checkAtomicSharing(options.sharing, prefix);
  resolveHoldingOptions(options.holding, HOLDING_DEFAULTS, prefix);
  check(line === 'fifo' || waitMs === 0, field('waitMs'), waitMs, "0 where line is 'none'");
}
