import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { check, checkFields, checkMs } from '../../contract/check.js';

/** The options of an embedded server. */
export interface EmbeddedZooKeeperOptions {
  /** The port to listen on. Default: a free one. */
  readonly port?: number | undefined;
  /** The address to listen on. Default 127.0.0.1, which no other machine reaches. */
  readonly host?: string | undefined;
  /** ZooKeeper's unit of time, in milliseconds. Default 2000, like a stock server. */
  readonly tickTimeMs?: number | undefined;
  /** The shortest session timeout, in milliseconds. Default: two ticks. */
  readonly minSessionTimeoutMs?: number | undefined;
  /** The longest session timeout, in milliseconds. Default: twenty ticks. */
  readonly maxSessionTimeoutMs?: number | undefined;
  /**
   * The interval at which empty containers and znodes past their time to live are removed, in milliseconds. Default 60
   * 000.
   */
  readonly containerCheckIntervalMs?: number | undefined;
  /** `manual`: time for sessions and znodes passes only by `advance(ms)`. Default `running`. */
  readonly clock?: 'running' | 'manual' | undefined;
  /**
   * Whether znodes may have a time to live, like `zookeeper.extendedTypesEnabled`. Default: no, like a stock server.
   */
  readonly extendedTypes?: boolean | undefined;
  /** The `user:<digest>` of a superuser, to whom no ACL applies. Default: none. */
  readonly superDigest?: string | undefined;
  /** The largest message that is accepted, in bytes, like `jute.maxbuffer`. Default 1 048 575. */
  readonly maxBufferBytes?: number | undefined;
  /** Starts although NODE_ENV is `production`. Not advised: the server stores nothing and replicates nothing. */
  readonly allowInProduction?: boolean | undefined;
  /** Called with messages for developers, such as that a session lasts longer than was requested. */
  readonly log?: ((line: string) => void) | undefined;
}

export type ResolvedEmbeddedOptions = {
  readonly [Field in keyof EmbeddedZooKeeperOptions]-?: Exclude<EmbeddedZooKeeperOptions[Field], undefined>;
};

const DEFAULTS = {
  port: 0,
  host: '127.0.0.1',
  tickTimeMs: 2_000,
  containerCheckIntervalMs: 60_000,
  clock: 'running',
  extendedTypes: false,
  superDigest: '',
  maxBufferBytes: 0xf_ffff,
  allowInProduction: false,
  log: () => {},
} as const;

const FIELDS = [...Object.keys(DEFAULTS), 'minSessionTimeoutMs', 'maxSessionTimeoutMs'];
const FEWEST_TICKS = 2;
const MOST_TICKS = 20;

/**
 * @param otherFields the option fields that another function reads
 * @throws LockConfigurationError that names the wrong field; Error in production
 */
export function resolveEmbeddedOptions(
  options: EmbeddedZooKeeperOptions = {},
  otherFields: readonly string[] = [],
): ResolvedEmbeddedOptions {
  checkFields('the options of an embedded ZooKeeper', options, [...FIELDS, ...otherFields]);
  const known = Object.entries(options).filter(([field, value]) => value !== undefined && FIELDS.includes(field));
  const given = Object.fromEntries(known);
  const merged = { ...DEFAULTS, ...(given as Partial<ResolvedEmbeddedOptions>) };
  checkMs('tickTimeMs', merged.tickTimeMs, 1, LONGEST_TIMER_MS);
  const { minSessionTimeoutMs = FEWEST_TICKS * merged.tickTimeMs } = given as EmbeddedZooKeeperOptions;
  const { maxSessionTimeoutMs = MOST_TICKS * merged.tickTimeMs } = given as EmbeddedZooKeeperOptions;
  const resolved = { ...merged, minSessionTimeoutMs, maxSessionTimeoutMs };
  checkOptions(resolved);
  refuseProduction(resolved.allowInProduction);
  return resolved;
}

function checkOptions(options: ResolvedEmbeddedOptions): void {
  const { port, maxBufferBytes, clock } = options;
  check(Number.isInteger(port) && port >= 0 && port <= 65_535, 'port', port, 'a port, or 0 for one that is free');
  // The largest timeout that the reply to a client can carry.
  checkMs('minSessionTimeoutMs', options.minSessionTimeoutMs, 1, LONGEST_TIMER_MS);
  checkMs('maxSessionTimeoutMs', options.maxSessionTimeoutMs, options.minSessionTimeoutMs);
  checkMs('containerCheckIntervalMs', options.containerCheckIntervalMs, 1, LONGEST_TIMER_MS);
  check(Number.isInteger(maxBufferBytes) && maxBufferBytes > 0, 'maxBufferBytes', maxBufferBytes, 'a number of bytes');
  check(clock === 'running' || clock === 'manual', 'clock', clock, "'running' or 'manual'");
  // An empty address would mean all addresses.
  check(typeof options.host === 'string' && options.host !== '', 'host', options.host, 'an address');
  check(typeof options.superDigest === 'string', 'superDigest', options.superDigest, 'a string');
  for (const field of ['extendedTypes', 'allowInProduction'] as const) {
    check(typeof options[field] === 'boolean', field, options[field], 'true or false');
  }
  check(typeof options.log === 'function', 'log', options.log, 'a function');
}

function refuseProduction(isAllowed: boolean): void {
  if (process.env['NODE_ENV'] !== 'production' || isAllowed) return;
  throw new Error(
    'The embedded ZooKeeper is for development and tests: one process, one copy, no disk. NODE_ENV is "production", ' +
      'so it does not start. Connect to a ZooKeeper ensemble instead, or set allowInProduction if you really mean this.',
  );
}
