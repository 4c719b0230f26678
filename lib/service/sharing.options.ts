import { LONGEST_TIMER_MS } from '../async/timer.js';
import { check, checkMs } from '../contract/check.js';

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
