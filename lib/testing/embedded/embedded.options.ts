import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { check, checkFields, checkMs } from '../../contract/check.js';

export interface EmbeddedZooKeeperOptions {
  /** Default: one that is free. */
  readonly port?: number | undefined;
  /** The address to listen on. Default 127.0.0.1, which nobody else reaches. */
  readonly host?: string | undefined;
  /** ZooKeeper's unit of time, in milliseconds. Default 2000, as a stock server has it. */
  readonly tickTimeMs?: number | undefined;
  /** The shortest session, in milliseconds. Default: two ticks. */
  readonly minSessionTimeoutMs?: number | undefined;
  /** The longest session, in milliseconds. Default: twenty ticks. */
  readonly maxSessionTimeoutMs?: number | undefined;
  /** How often empty containers and znodes past their time are removed, in milliseconds. Default 60 000. */
  readonly containerCheckIntervalMs?: number | undefined;
  /** `manual`: no time passes for sessions and znodes but by `advance(ms)`. Default `running`. */
  readonly clock?: 'running' | 'manual' | undefined;
  /** Whether znodes may have a time to live, as `zookeeper.extendedTypesEnabled`. Default: no, as a stock server. */
  readonly extendedTypes?: boolean | undefined;
  /** `user:<digest>` whom no ACL binds. Default: nobody. */
  readonly superDigest?: string | undefined;
  /** The largest message that is taken, in bytes, as `jute.maxbuffer`. Default 1 048 575. */
  readonly maxBufferBytes?: number | undefined;
  /** To start although NODE_ENV is `production`. It keeps nothing and replicates nothing: do not. */
  readonly allowInProduction?: boolean | undefined;
  /** Is told what a developer may want to know, such as a session that lasts longer than was asked for. */
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
 * @param otherFields of options that somebody else reads
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
  // As long as the answer to a client can say.
  checkMs('minSessionTimeoutMs', options.minSessionTimeoutMs, 1, LONGEST_TIMER_MS);
  checkMs('maxSessionTimeoutMs', options.maxSessionTimeoutMs, options.minSessionTimeoutMs);
  checkMs('containerCheckIntervalMs', options.containerCheckIntervalMs, 1, LONGEST_TIMER_MS);
  check(Number.isInteger(maxBufferBytes) && maxBufferBytes > 0, 'maxBufferBytes', maxBufferBytes, 'a number of bytes');
  check(clock === 'running' || clock === 'manual', 'clock', clock, "'running' or 'manual'");
  // An empty one means all addresses.
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
