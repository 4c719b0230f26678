import { check, checkFields } from '../contract/check.js';
import type { LockKind } from '../contract/channels.js';
import { DEFAULT_CONNECTION } from '../service/lock-service.token.js';

/** The instrumentation scope of OpenTelemetry: the name of the meter and of the tracer. */
export const SCOPE = 'nestjs-distributed-lock';

/** A lock, a queue or a stock that gets a name. */
export interface NamedLock {
  /** The key as the application wrote it. */
  readonly key: string;
  /** The label: `Class.method` for a decorator, or the caller's own. `undefined` for queues, barriers and stocks. */
  readonly label: string | undefined;
  /** The kind of the lock; `stock` for a stock. */
  readonly kind: LockKind | 'stock';
}

/** The options of metrics, whichever exporter they are for. */
export interface TelemetryOptions {
  /** The names of the connections that are measured. Default `['default']`. */
  readonly connections?: readonly string[] | undefined;
  /**
   * Returns the name of a lock, a queue or a stock on metrics, or `undefined` for its default. That is the label of a
   * lock, `'unnamed'` for a lock without one, and the kind for all else, such as `'queue'`. Called for every acquisition,
   * so it must be quick. Never return a key that is made of ids: each name costs the memory of a series.
   */
  readonly nameOf?: ((lock: NamedLock) => string | undefined) | undefined;
  /** The number of different names, after which new ones become `'other'`. Default 200. */
  readonly maxNames?: number | undefined;
}

export interface ResolvedTelemetryOptions {
  readonly connections: readonly string[];
  readonly nameOf: (lock: NamedLock) => string | undefined;
  readonly maxNames: number;
}

export const TELEMETRY_DEFAULTS: ResolvedTelemetryOptions = Object.freeze({
  connections: Object.freeze([DEFAULT_CONNECTION]),
  nameOf: () => undefined,
  maxNames: 200,
});

export const TELEMETRY_FIELDS = Object.keys(TELEMETRY_DEFAULTS);

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveTelemetryOptions(
  what: string,
  options: TelemetryOptions,
  fields: readonly string[] = TELEMETRY_FIELDS,
): ResolvedTelemetryOptions {
  checkFields(what, options, fields);
  const {
    connections = TELEMETRY_DEFAULTS.connections,
    nameOf = TELEMETRY_DEFAULTS.nameOf,
    maxNames = TELEMETRY_DEFAULTS.maxNames,
  } = options;
  check(areConnections(connections), 'connections', connections, "a list of names, such as ['default']");
  check(typeof nameOf === 'function', 'nameOf', nameOf, 'a function that returns a name');
  check(Number.isInteger(maxNames) && maxNames > 0, 'maxNames', maxNames, 'a whole number, 1 or more');
  return { connections, nameOf, maxNames };
}

/** Whether the value is a list of different names of connections. */
export function areConnections(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || new Set(value).size < value.length) return false;
  return value.every((name) => typeof name === 'string' && name !== '');
}
