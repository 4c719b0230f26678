import { check, checkFields, checkMs } from '../contract/check.js';
import { areConnections, TELEMETRY_DEFAULTS } from '../telemetry/telemetry.options.js';

/** The options of `LockTracingModule`. */
export interface LockTracingOptions {
  /** The names of the connections that are traced. Default `['default']`. */
  readonly connections?: readonly string[] | undefined;
  /** The shortest wait that gets an `acquire` span, in milliseconds. One that fails always gets one. Default 1. */
  readonly acquireAfterMs?: number | undefined;
  /** Whether spans are made only below a span that is recorded. Default `true`. */
  readonly requireParent?: boolean | undefined;
  /** Whether spans have the attribute `distributed_lock.key`. Default `true`. */
  readonly recordKeys?: boolean | undefined;
}

export type ResolvedLockTracingOptions = {
  readonly [F in keyof LockTracingOptions]-?: NonNullable<LockTracingOptions[F]>;
};

export const DEFAULTS: ResolvedLockTracingOptions = Object.freeze({
  connections: TELEMETRY_DEFAULTS.connections,
  acquireAfterMs: 1,
  requireParent: true,
  recordKeys: true,
});

const FIELDS = Object.keys(DEFAULTS);

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveLockTracingOptions(options: LockTracingOptions): ResolvedLockTracingOptions {
  checkFields('LockTracingModule options', options, FIELDS);
  const {
    connections = DEFAULTS.connections,
    acquireAfterMs = DEFAULTS.acquireAfterMs,
    requireParent = DEFAULTS.requireParent,
    recordKeys = DEFAULTS.recordKeys,
  } = options;
  check(areConnections(connections), 'connections', connections, "a list of names, such as ['default']");
  checkMs('acquireAfterMs', acquireAfterMs);
  check(typeof requireParent === 'boolean', 'requireParent', requireParent, 'true or false');
  check(typeof recordKeys === 'boolean', 'recordKeys', recordKeys, 'true or false');
  return { connections, acquireAfterMs, requireParent, recordKeys };
}
