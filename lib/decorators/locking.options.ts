import { check, checkFields, checkLabel, checkMs } from '../contract/check.js';
import type { MutexOptions } from '../service/lock-service.options.js';
import type { MultiOptions } from '../service/multi.options.js';
import { pickSharing, resolveSharingOptions, SHARING_DEFAULTS } from '../service/sharing.options.js';
import type { SharingOptions } from '../service/sharing.options.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

/** What a call does that can not have its lock: fail, or not happen. */
export type OnContention = 'throw' | 'skip';

/** What every lock decorator can be told. */
export interface LockingOptions {
  /**
   * How long a call waits in line, in milliseconds; 0 asks once. Default: the module's `waitMs`, and 0 with
   * `onContention: 'skip'`.
   */
  readonly waitMs?: number | undefined;
  /**
   * What a call does when somebody else holds the key for all of `waitMs`: reject with a `LockTimeoutError`
   * (`'throw'`, the default), or not run the method and resolve to `undefined` (`'skip'`, for jobs that another
   * instance does). A `LockTimeoutError` that the method itself throws is not contention and always passes through.
   */
  readonly onContention?: OnContention | undefined;
  /** When the lease was lost while the method ran: reject with `LockLostError` (default), or return the result. */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /** A name for logs and for whoever looks at the line of contenders. Default `Class.method`. */
  readonly label?: string | undefined;
  /** `false`: entering a key that this call already holds is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
  /** The name of the `LockModule` connection. Default `'default'`. */
  readonly connection?: string | undefined;
}

export interface DistributedLockOptions extends LockingOptions, MutexOptions, Pick<MultiOptions, 'atomic'> {}

/** Every option with its default filled in; `waitMs` is `undefined` where the connection decides. */
export interface ResolvedLockingOptions extends Required<
  Omit<DistributedLockOptions, 'waitMs' | keyof SharingOptions>
> {
  readonly waitMs: number | undefined;
  /** As they were given: what is not is the connection's. */
  readonly sharing: SharingOptions;
}

export const DEFAULTS = Object.freeze({
  onContention: 'throw',
  onLost: 'throw',
  reentrant: true,
  connection: DEFAULT_CONNECTION,
  line: 'fifo',
  atomic: false,
} as const);

/** The fields of `LockingOptions`; a decorator that knows more adds its own. */
export const LOCKING_FIELDS = ['waitMs', 'onContention', 'onLost', 'label', 'reentrant', 'connection'] as const;

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
  const { onContention = DEFAULTS.onContention, line = DEFAULTS.line, label = at.place } = options;
  const { atomic = DEFAULTS.atomic } = options;
  const { onLost = DEFAULTS.onLost, reentrant = DEFAULTS.reentrant, connection = DEFAULTS.connection } = options;
  const { waitMs = onContention === 'skip' || line === 'none' ? 0 : undefined } = options;
  const sharing = pickSharing(options);
  const resolved = { waitMs, onContention, onLost, label, reentrant, connection, line, atomic, sharing };
  checkValues(`${at.title}: `, resolved);
  return resolved;
}

function checkValues(prefix: string, options: ResolvedLockingOptions): void {
  const { waitMs, onContention, onLost, label, reentrant, connection, line, atomic, sharing } = options;
  const field = (name: string) => prefix + name;
  if (waitMs !== undefined) checkMs(field('waitMs'), waitMs);
  check(['throw', 'skip'].includes(onContention), field('onContention'), onContention, "'throw' or 'skip'");
  check(['throw', 'ignore'].includes(onLost), field('onLost'), onLost, "'throw' or 'ignore'");
  checkLabel(label, field('label'));
  check(typeof reentrant === 'boolean', field('reentrant'), reentrant, 'true or false');
  check(typeof connection === 'string' && connection !== '', field('connection'), connection, 'a name');
  check(['fifo', 'none'].includes(line), field('line'), line, "'fifo' or 'none'");
  check(typeof atomic === 'boolean', field('atomic'), atomic, 'true or false');
  check(!atomic || line === 'fifo', field('atomic'), atomic, "false where line is 'none'");
  resolveSharingOptions(sharing, SHARING_DEFAULTS, prefix);
  check(line === 'fifo' || waitMs === 0, field('waitMs'), waitMs, "0 where line is 'none'");
}
