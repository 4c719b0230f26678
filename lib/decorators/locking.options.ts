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
import type { MultiOptions } from '../service/multi-locks.js';
import { pickSharing, resolveSharingOptions, SHARING_DEFAULTS } from '../service/lock-service.options.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

/** What every lock decorator can be told. */
export interface LockingOptions extends HoldingOptions {
  /**
   * How long a call waits in line, in milliseconds; 0 asks once. Default: the module's `waitMs`, and 0 with
   * `onContention: 'skip'`.
   */
  readonly waitMs?: number | undefined;
  /**
   * What a call does when somebody else holds the key for all of `waitMs`. Default: the module's, `'throw'`.
   * - `'throw'`: rejects with a `LockTimeoutError`.
   * - `'skip'`: does not run the method, and resolves to `undefined`; for jobs that another instance does.
   * - a function of the context: does not run the method. What the function returns is the call's result; what it throws is
   *   what the call rejects with. For an `Observable` it may return the value or an `Observable`, for an `async *` method an
   *   async iterable.
   *
   * A `LockTimeoutError` that the method itself throws is not contention and always passes through.
   */
  readonly onContention?: OnContention | undefined;
  /**
   * When the lease was lost while the method ran: reject with `LockLostError` (or `LockOverdueError`), or return the result.
   * Default: the module's, `'throw'`.
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /** A name for logs and for whoever looks at the line of contenders. Default `Class.method`. */
  readonly label?: string | undefined;
  /** `false`: entering a key that this call already holds is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
  /** The name of the `LockModule` connection. Default `'default'`. */
  readonly connection?: string | undefined;
}

export interface DistributedLockOptions extends LockingOptions, MutexOptions, Pick<MultiOptions, 'atomic'> {}

/** What is `undefined` where the connection decides. */
type OfConnection = 'waitMs' | 'onContention' | 'onLost';

/** Every option with its default filled in, but for those that the connection decides. */
export interface ResolvedLockingOptions extends Required<
  Omit<DistributedLockOptions, OfConnection | keyof SharingOptions | keyof HoldingOptions>
> {
  readonly waitMs: number | undefined;
  readonly onContention: OnContention | undefined;
  readonly onLost: DistributedLockOptions['onLost'];
  /** As they were given: what is not is the connection's. */
  readonly sharing: SharingOptions;
  readonly holding: HoldingOptions;
}

export const DEFAULTS = Object.freeze({
  reentrant: true,
  connection: DEFAULT_CONNECTION,
  line: 'fifo',
  atomic: false,
} as const);

/** The fields of `LockingOptions`; a decorator that knows more adds its own. */
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
  resolveHoldingOptions(options.holding, HOLDING_DEFAULTS, prefix);
  check(line === 'fifo' || waitMs === 0, field('waitMs'), waitMs, "0 where line is 'none'");
}
