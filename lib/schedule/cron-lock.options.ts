import { LONGEST_TIMER_MS } from '../async/timer.js';
import { check, checkFields, checkMs } from '../contract/check.js';
import { checkKey } from '../contract/key.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

/** The options of `CronLock`. */
export interface CronLockOptions {
  /**
   * The key of the job in its service: of its lock, which no other key has, and of its latest run. A key that begins
   * with `/` is a path, shared by all services. Default `cron/<name>`, with the name given in `@Cron`, `@Interval` or
   * `@Timeout`, else `Class.method`. No two jobs of a connection may have the same key.
   */
  readonly key?: string | undefined;
  /**
   * The minimum time between the beginnings of two runs, in milliseconds on the servers' clock. Default 0. For
   * `@Interval` the default is its interval, less a tenth (at most a second) for timers that are not exact.
   */
  readonly atLeastMs?: number | undefined;
  /**
   * The maximum duration of a run, in milliseconds. When it is exceeded, `currentLease().signal` aborts with a
   * `LockOverdueError`, and an error is logged. The lock remains held until the method has ended. Default: no limit.
   */
  readonly atMostMs?: number | undefined;
  /**
   * The handling of a run whose instance died during it.
   * - `'skip'` (default): nothing is done, and the next tick is run. A tick is run at most once.
   * - `'rerun'`: another instance runs the same tick again as soon as the servers have noticed. A tick is run at least
   *   once.
   */
  readonly onCrash?: 'skip' | 'rerun' | undefined;
  /**
   * The number of times that one tick is begun at most, with `onCrash: 'rerun'`. Default 3: a job that kills every
   * process that runs it comes to an end.
   */
  readonly attempts?: number | undefined;
  /**
   * The behaviour of a call when the servers cannot be asked. It never runs the method.
   * - `'skip'` (default): resolves to `undefined` and logs a warning.
   * - `'throw'`: rejects with a `LockUnavailableError`, which the scheduler logs.
   */
  readonly onUnavailable?: 'skip' | 'throw' | undefined;
  /** Whether a lease lost while the method ran rejects with `LockLostError` (default), or the result is returned. */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /** The name of the `LockModule` connection. Default `'default'`. */
  readonly connection?: string | undefined;
}

/** Every option with its default filled in. Options that depend on the schedule are `undefined`. */
export interface ResolvedCronLockOptions extends Required<Omit<CronLockOptions, 'key' | 'atLeastMs'>> {
  readonly key: string | undefined;
  readonly atLeastMs: number | undefined;
}

export const DEFAULTS = Object.freeze({
  atMostMs: Infinity,
  onCrash: 'skip',
  attempts: 3,
  onUnavailable: 'skip',
  onLost: 'throw',
  connection: DEFAULT_CONNECTION,
} as const);

const FIELDS = ['key', 'atLeastMs', ...Object.keys(DEFAULTS)];

/**
 * Merges with the defaults and checks.
 * @param title the decorated place, for messages
 * @throws LockConfigurationError that names the place and the wrong field
 */
export function resolveCronLockOptions(title: string, options: CronLockOptions): ResolvedCronLockOptions {
  checkFields(title, options, FIELDS, `${title}: the options`, "an object such as { key: 'report' }");
  const { key, atLeastMs, atMostMs = DEFAULTS.atMostMs, attempts = DEFAULTS.attempts } = options;
  const { onCrash = DEFAULTS.onCrash, onUnavailable = DEFAULTS.onUnavailable, onLost = DEFAULTS.onLost } = options;
  const { connection = DEFAULTS.connection } = options;
  const resolved = { key, atLeastMs, atMostMs, onCrash, attempts, onUnavailable, onLost, connection };
  checkValues(`${title}: `, resolved, options.attempts !== undefined);
  return resolved;
}

function checkValues(prefix: string, options: ResolvedCronLockOptions, hasAttempts: boolean): void {
  const { key, atLeastMs, atMostMs, onCrash, attempts, onUnavailable, onLost, connection } = options;
  const field = (name: string) => prefix + name;
  const isKey = key === undefined || (typeof key === 'string' && key !== '');
  check(isKey, field('key'), key, 'text that is not empty');
  if (key !== undefined) checkKey(key, field('key'));
  if (atLeastMs !== undefined) checkMs(field('atLeastMs'), atLeastMs, 0, Number.MAX_SAFE_INTEGER);
  if (atMostMs !== Infinity) checkMs(field('atMostMs'), atMostMs, 1, LONGEST_TIMER_MS);
  check(['skip', 'rerun'].includes(onCrash), field('onCrash'), onCrash, "'skip' or 'rerun'");
  check(Number.isInteger(attempts) && attempts >= 1, field('attempts'), attempts, 'a whole number, 1 or more');
  check(onCrash === 'rerun' || !hasAttempts, field('attempts'), attempts, "left out unless onCrash is 'rerun'");
  check(['skip', 'throw'].includes(onUnavailable), field('onUnavailable'), onUnavailable, "'skip' or 'throw'");
  check(['throw', 'ignore'].includes(onLost), field('onLost'), onLost, "'throw' or 'ignore'");
  check(typeof connection === 'string' && connection !== '', field('connection'), connection, 'a name');
}
