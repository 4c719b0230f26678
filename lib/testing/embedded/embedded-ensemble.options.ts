import { LONGEST_TIMER_MS } from '../../async/timer.js';
import { check, checkMs } from '../../contract/check.js';
import { resolveEmbeddedOptions } from './embedded.options.js';
import type { EmbeddedZooKeeperOptions, ResolvedEmbeddedOptions } from './embedded.options.js';
import type { EnsembleTimes } from './ensemble/ensemble-times.js';

/** Milliseconds, or what is asked for them anew every time. */
export type DrawnMs = number | (() => number);

/** Every server has a port of its own, and it is one that is free. */
export interface EmbeddedEnsembleOptions extends Omit<EmbeddedZooKeeperOptions, 'port'> {
  /**
   * How long a message from one server to another takes. Messages between two servers keep their order. Default 0: no
   * time at all.
   */
  readonly peerDelayMs?: DrawnMs | undefined;
  /** How long an election takes, in which nobody is served. Default 0: no time at all. */
  readonly electionMs?: DrawnMs | undefined;
  /**
   * How long a server goes on that is cut off from its leader, and a leader that is cut off from its followers. Default:
   * 5 ticks, as `syncLimit=5`.
   */
  readonly syncLimitMs?: DrawnMs | undefined;
  /**
   * How much later than its timeout a session ends, asked for with every word of its client. Default: up to the next
   * full tick, as ZooKeeper has it.
   */
  readonly expiryDelayMs?: DrawnMs | undefined;
  /**
   * The longest session that each server grants, in milliseconds, in the order of the servers: each goes by its own
   * configuration. Default: `maxSessionTimeoutMs` for all.
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
