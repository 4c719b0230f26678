import { LONGEST_TIMER_MS } from '../async/timer.js';
import { HOLDING_FIELDS } from '../contract/acquire.options.js';
import type { HoldingOptions, OnContention, ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { check, checkFields, checkMs } from '../contract/check.js';
import type { Line } from '../contract/lock-request.js';

export interface MutexOptions extends SharingOptions, HoldingOptions {
  /**
   * `'fifo'` (default): contenders stand in line, first come first served. `'none'`: for try-only use such as cron guards.
   * An acquisition that is not the first is told so at once; it never waits.
   */
  readonly line?: Line | undefined;
  /** `false`: entering the key when the call already holds it is a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
}

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveMutexOptions(options: MutexOptions): Required<Pick<MutexOptions, 'line' | 'reentrant'>> {
  checkFields('mutex options', options, ['line', 'reentrant', ...SHARING_FIELDS, ...HOLDING_FIELDS]);
  const { line = 'fifo', reentrant = true } = options;
  check(line === 'fifo' || line === 'none', 'line', line, "'fifo' or 'none'");
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  return { line, reentrant };
}

/** What a `LockService` is made with; `LockModule` fills it from its options. */
export interface LockServiceOptions extends SharingOptions, HoldingOptions {
  readonly connectionName: string;
  /** The service that jobs, elections, queues, barriers and shared values belong to. */
  readonly service?: string | undefined;
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly connectOnStart: 'required' | 'background';
  readonly warnShutdownHooks?: boolean | undefined;
  /** What `using` and decorated methods do when their lease was lost, unless they say. */
  readonly onLost?: ResolvedAcquireOptions['onLost'] | undefined;
  /** What decorated methods do that can not have their lock, unless they say. */
  readonly onContention?: OnContention | undefined;
}

/** How the callers of one process share a key. */
export interface SharingOptions {
  /**
   * `true`: callers of this process stand in an in-process line behind one contender, and hand the key on in memory;
   * once another process waits, for 15 ms or 256 hand-overs at most. `false`: every caller is a contender of its own, in
   * strict order of arrival at the servers, across all processes; one that four others of its process are ahead of is sent
   * there with those who come within 3 ms. Default: the module's, `true`.
   */
  readonly localLine?: boolean | undefined;
  /**
   * How long this process keeps the key after its last use, in milliseconds, so that it takes it again without asking the
   * servers. It is given up at once when another process asks, when the connection is lost, and at shutdown.
   * Goes with `localLine`, which is `true` for whoever asks for this and does not say. Default: the module's, 0.
   */
  readonly keepMs?: number | undefined;
}

export const SHARING_DEFAULTS = Object.freeze({ localLine: true, keepMs: 0 });

export const SHARING_FIELDS = ['localLine', 'keepMs'] as const;

/** Of any options, these. */
export function pickSharing({ localLine, keepMs }: SharingOptions): SharingOptions {
  return { ...(localLine === undefined ? {} : { localLine }), ...(keepMs === undefined ? {} : { keepMs }) };
}

/** Merges with the module's and checks. @throws LockConfigurationError that names the wrong field, after `prefix` */
export function resolveSharingOptions(
  options: SharingOptions,
  defaults: Required<SharingOptions>,
  prefix = '',
): Required<SharingOptions> {
  const isToBeKept = options.keepMs !== undefined && options.keepMs > 0;
  const { localLine = isToBeKept || defaults.localLine } = options;
  const { keepMs = localLine ? defaults.keepMs : 0 } = options;
  check(typeof localLine === 'boolean', `${prefix}localLine`, localLine, 'true or false');
  checkMs(`${prefix}keepMs`, keepMs, 0, LONGEST_TIMER_MS);
  check(localLine || keepMs === 0, `${prefix}keepMs`, keepMs, '0 where localLine is false');
  return { localLine, keepMs };
}
