import { LONGEST_TIMER_MS } from '../async/timer.js';
import { HOLDING_FIELDS } from '../contract/acquire.options.js';
import type { HoldingOptions, OnContention, ResolvedAcquireOptions } from '../contract/acquire.options.js';
import { check, checkFields, checkMs } from '../contract/check.js';
import type { Line } from '../contract/lock-request.js';

export interface MutexOptions extends SharingOptions, HoldingOptions {
  /**
   * The waiting mode:
   * - `'fifo'` (default): contenders wait in a queue, first come first served.
   * - `'none'`: for try-only use such as cron guards. An acquisition that is not first fails at once; it never waits.
   */
  readonly line?: Line | undefined;
  /** `false`: acquiring the key when the call already holds it throws a `LockReentrancyError`. Default `true`. */
  readonly reentrant?: boolean | undefined;
}

/** Merges the options with the defaults and checks them. @throws LockConfigurationError that names the wrong field */
export function resolveMutexOptions(options: MutexOptions): Required<Pick<MutexOptions, 'line' | 'reentrant'>> {
  checkFields('mutex options', options, ['line', 'reentrant', ...SHARING_FIELDS, ...HOLDING_FIELDS]);
  const { line = 'fifo', reentrant = true } = options;
  check(line === 'fifo' || line === 'none', 'line', line, "'fifo' or 'none'");
  check(typeof reentrant === 'boolean', 'reentrant', reentrant, 'true or false');
  return { line, reentrant };
}

/** The options of a `LockService`; `LockModule` fills them from its own options. */
export interface LockServiceOptions extends SharingOptions, HoldingOptions {
  readonly connectionName: string;
  /** The service that jobs, elections, queues, barriers and shared values belong to. */
  readonly service?: string | undefined;
  readonly waitMs: number;
  readonly drainTimeoutMs: number;
  readonly connectOnStart: 'required' | 'background';
  readonly warnShutdownHooks?: boolean | undefined;
  /** Closes every connection of the application. Called when this one failed to connect. Default: closes this one. */
  readonly closeAll?: (() => Promise<void>) | undefined;
  /** Default reaction of `using` and decorated methods when their lease was lost. */
  readonly onLost?: ResolvedAcquireOptions['onLost'] | undefined;
  /** Default reaction of decorated methods that cannot acquire their lock. */
  readonly onContention?: OnContention | undefined;
}

/** Options for sharing a key among the callers of one process. */
export interface SharingOptions {
  /**
   * Whether callers of this process share one contender. Default: the module's, `true`.
   * - `true`: callers wait in a local queue behind one contender, and hand the key over in memory. Once another process
   *   waits, they do so for 15 ms or 256 hand-overs at most.
   * - `false`: every caller is a contender of its own, in strict order of arrival at the servers, across all processes.
   *   If four others of its process are ahead of a caller, it is sent to the servers together with those that arrive
   *   within 3 ms.
   */
  readonly localLine?: boolean | undefined;
  /**
   * Time that this process keeps the lease warm after its last use, in milliseconds, to acquire it again without a
   * request to the servers. It is released at once when another process requests it, when the connection is lost, and
   * at shutdown. Requires `localLine`, which becomes `true` if this is set and `localLine` is not. Default: the
   * module's, 0.
   */
  readonly keepMs?: number | undefined;
}

export const SHARING_DEFAULTS = Object.freeze({ localLine: true, keepMs: 0 });

export const SHARING_FIELDS = ['localLine', 'keepMs'] as const;

/** Returns only the sharing options of an options object. */
export function pickSharing({ localLine, keepMs }: SharingOptions): SharingOptions {
  return { ...(localLine === undefined ? {} : { localLine }), ...(keepMs === undefined ? {} : { keepMs }) };
}

/**
 * Merges the options with the module's and checks them.
 * @throws LockConfigurationError that names the wrong field, after `prefix`
 */
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
