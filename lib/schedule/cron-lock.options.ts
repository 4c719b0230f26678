import { LONGEST_TIMER_MS } from '../async/timer.js';
import { check, checkFields, checkMs } from '../contract/check.js';
import { checkKey } from '../contract/key.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

export interface CronLockOptions {
  /**
   * What the job is known by in its service: its lock, which is the lock of no other key, and its latest run. A key that
   * begins with `/` is a path, shared by all services. Default `cron/<name>`: the name given in `@Cron`, `@Interval` or
   * `@Timeout`, else `Class.method`. No two jobs of a connection may have the same.
   */
  readonly key?: string | undefined;
  /**
   * A run does not begin sooner than this after the one before has begun, in milliseconds on the servers' clock. Default
   * 0; for `@Interval` its interval, less a tenth (at most a second) for timers that are not exact.
   */
  readonly atLeastMs?: number | undefined;
  /**
   * A run that takes longer, in milliseconds, is told to stop: `currentLease().signal` aborts with a `LockOverdueError`,
   * and an error is logged. The lock stays held until the method has ended. Default: no limit.
   */
  readonly atMostMs?: number | undefined;
  /**
   * What becomes of a run whose instance died in it. `'skip'` (default): nothing, the next tick is run; a tick is run at
   * most once. `'rerun'`: another instance runs the same tick again as soon as the servers have noticed; at least once.
   */
  readonly onCrash?: 'skip' | 'rerun' | undefined;
  /** With `onCrash: 'rerun'`, how many times one tick is begun at most. Default 3: a job that kills whoever runs it ends. */
  readonly attempts?: number | undefined;
  /**
   * What a call does when the servers can not be asked. It never runs: it resolves to `undefined` and logs a warning
   * (`'skip'`, the default), or rejects with a `LockUnavailableError`, which the scheduler logs (`'throw'`).
   */
  readonly onUnavailable?: 'skip' | 'throw' | undefined;
  /** When the lease was lost while the method ran: reject with `LockLostError` (default), or return the result. */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /** The name of the `LockModule` connection. Default `'default'`. */
  readonly connection?: string | undefined;
}

/** Every option with its default filled in; what depends on the schedule is `undefined`. */
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
