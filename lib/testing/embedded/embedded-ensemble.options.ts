import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { check, checkMs } from '../../contract/check.js';
import { resolveEmbeddedOptions } from './embedded.options.js';
import type { EmbeddedZooKeeperOptions, ResolvedEmbeddedOptions } from './embedded.options.js';
import type { EnsembleTimes } from './ensemble/ensemble-times.js';

/** A number of milliseconds, or a function that is asked for a new number every time. */
export type DrawnMs = number | (() => number);

/** Each server has a port of its own, which is a free one. */
export interface EmbeddedEnsembleOptions extends Omit<EmbeddedZooKeeperOptions, 'port'> {
  /**
   * The time that a message from one server to another takes. Messages between two servers keep their order. Default 0:
   * no time at all.
   */
  readonly peerDelayMs?: DrawnMs | undefined;
  /** The time that an election takes, during which no client is served. Default 0: no time at all. */
  readonly electionMs?: DrawnMs | undefined;
  /**
   * The time for which a server continues without its leader, and a leader without its followers, after they were cut
   * off. Default: 5 ticks, like `syncLimit=5`.
   */
  readonly syncLimitMs?: DrawnMs | undefined;
  /**
   * The time from a session's timeout to its end, drawn anew with every message of its client. Default: up to the next
   * full tick, as in ZooKeeper.
   */
  readonly expiryDelayMs?: DrawnMs | undefined;
  /**
   * The longest session timeout that each server grants, in milliseconds, in the order of the servers: each has a
   * configuration of its own. Default: `maxSessionTimeoutMs` for all.
   */
  readonly longestSessionsMs?: readonly number[] | undefined;
}

const FIELDS = ['peerDelayMs', 'electionMs', 'syncLimitMs', 'expiryDelayMs', 'longestSessionsMs'] as const;
const SYNC_LIMIT_TICKS = 5;

export interface ResolvedEnsembleOptions extends ResolvedEmbeddedOptions, EnsembleTimes {
  readonly expiryDelayMs: (() => number) | undefined;
  readonly longestSessionsMs: readonly number[];
}

/** @throws LockConfigurationError that names the wrong field; Error in production */
export function resolveEnsembleOptions(options: EmbeddedEnsembleOptions): ResolvedEnsembleOptions {
  const resolved = resolveEmbeddedOptions(options, FIELDS);
  const { peerDelayMs = 0, electionMs = 0, syncLimitMs = SYNC_LIMIT_TICKS * resolved.tickTimeMs } = options;
  const { expiryDelayMs, longestSessionsMs = [] } = options;
  check(
    Array.isArray(longestSessionsMs),
    'longestSessionsMs',
    longestSessionsMs,
    'a list, with a limit for each server',
  );
  for (const ms of longestSessionsMs) checkMs('longestSessionsMs', ms, 1, LONGEST_TIMER_MS);
  return {
    ...resolved,
    longestSessionsMs,
    peerDelayMs: peerDelayMs === 0 ? undefined : drawn('peerDelayMs', peerDelayMs),
    electionMs: drawn('electionMs', electionMs),
    syncLimitMs: drawn('syncLimitMs', syncLimitMs),
    expiryDelayMs: expiryDelayMs === undefined ? undefined : drawn('expiryDelayMs', expiryDelayMs),
  };
}

function drawn(field: string, ms: DrawnMs): () => number {
  const checked = (value: number): number => {
    checkMs(field, value, 0, LONGEST_TIMER_MS);
    return value;
  };
  if (typeof ms === 'function') return () => checked(ms());
  checked(ms);
  return () => ms;
}
