import { register } from 'prom-client';
import type { Registry } from 'prom-client';
import { check } from '../contract/check.js';
import { BUCKETS } from '../telemetry/metric-table.js';
import { resolveTelemetryOptions, TELEMETRY_FIELDS } from '../telemetry/telemetry.options.js';
import type { ResolvedTelemetryOptions, TelemetryOptions } from '../telemetry/telemetry.options.js';

/** The options of `LockMetricsModule`. */
export interface LockMetricsOptions extends TelemetryOptions {
  /** The registry of the metrics. Default: `register` of prom-client, the global one. */
  readonly registry?: Pick<Registry, 'getSingleMetric' | 'registerMetric'> | undefined;
  /** The text before the name of every metric, such as `'shop_'`. Default: none. */
  readonly prefix?: string | undefined;
  /** The upper bounds of the buckets of waits and holds, in seconds, ascending. Default: 17 of them, 0.5 ms to 300 s. */
  readonly buckets?: readonly number[] | undefined;
}

export interface ResolvedLockMetricsOptions extends ResolvedTelemetryOptions {
  readonly registry: NonNullable<LockMetricsOptions['registry']>;
  readonly prefix: string;
  readonly buckets: readonly number[];
}

export const DEFAULTS = Object.freeze({ registry: register, prefix: '', buckets: BUCKETS });

const FIELDS = [...Object.keys(DEFAULTS), ...TELEMETRY_FIELDS];

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveLockMetricsOptions(options: LockMetricsOptions): ResolvedLockMetricsOptions {
  const telemetry = resolveTelemetryOptions('LockMetricsModule options', options, FIELDS);
  const { registry = DEFAULTS.registry, prefix = DEFAULTS.prefix, buckets = DEFAULTS.buckets } = options;
  check(typeof registry?.registerMetric === 'function', 'registry', registry, 'a Registry of prom-client');
  const isPrefix = typeof prefix === 'string' && /^([a-zA-Z_][a-zA-Z0-9_]*)?$/.test(prefix);
  check(isPrefix, 'prefix', prefix, "letters, digits and underscores, such as 'shop_'");
  check(areBounds(buckets), 'buckets', buckets, 'a list of seconds, each larger than the one before');
  return { ...telemetry, registry, prefix, buckets };
}

function areBounds(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((bound, at) => Number.isFinite(bound) && bound > (at === 0 ? 0 : value[at - 1]));
}
