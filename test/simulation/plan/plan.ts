import type { EmbeddedZooKeeperOptions } from '../../../lib/testing/embedded/embedded.options.js';
import type { Shortcut } from '../instance/shortcuts.js';
import type { Delays } from '../network/link.js';

/** One of these, both ends included. */
export type Range = readonly [least: number, most: number];

/** What the world is made of. Times in milliseconds, but for those that say otherwise. */
export interface WorldPlan {
  readonly servers: number;
  readonly apps: number;
  readonly sessionTimeoutMs: number;
  /** The longest session that each server grants. */
  readonly serverTimeoutsMs: readonly number[];
  readonly tickTimeMs: number;
  readonly containerCheckIntervalMs: NonNullable<EmbeddedZooKeeperOptions['containerCheckIntervalMs']>;
  /** Between applications and servers. */
  readonly link: Delays;
  /** Between servers. */
  readonly peerDelayMs: Range;
  readonly electionMs: Range;
  /** How long a server that is cut off from its leader goes on. */
  readonly syncLimitMs: Range;
  /** How much later than it may a session ends. */
  readonly expiryDelayMs: Range;
  /** How long a callback keeps a process busy, in microseconds. */
  readonly callbackUs: number;
  /** How fast each application's clock runs, as a share of the servers'. */
  readonly clockRates: readonly number[];
  /** How far each application's wall clock is off. */
  readonly wallSkewsMs: readonly number[];
}

export type Way = 'there' | 'back' | 'both';

/** What is broken, when, and for how long. `app` and `server` count from 0; a server may also be meant by what it is. */
export interface FaultPlan {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: FaultKind;
  readonly app?: number;
  readonly server?: number | 'leader' | 'follower';
  readonly way?: Way;
  /** Of a link that is held both ways: how long the way back is, when it opens before the other one. */
  readonly backForMs?: number;
  /** How much, where a kind knows more and less of it. */
  readonly ms?: number;
  /** Which requests. */
  readonly op?: string;
}

export const FAULT_KINDS = [
  'reset',
  'vanish',
  'hold',
  'one-way',
  'slow',
  'stop',
  'stall',
  'suspend',
  'wall-jump',
  'crash',
  'power-off',
  'server-kill',
  'server-power-off',
  'freeze',
  'cut-off',
  'leader-change',
  'lost-quorum',
  'lag',
  'refuse',
  'expiry',
  'delete-node',
  'lost-reply',
  'lost-request',
  'failed-request',
  'reap',
] as const;

/** `data-gone`: the servers come back empty. No lock survives that: a run with it shows only whether everybody goes on. */
export type FaultKind = (typeof FAULT_KINDS)[number] | 'data-gone';

/**
 * Everything that a run is made of: two runs of one plan are the same, byte for byte. It is data, so it can be kept, made
 * smaller, and changed.
 */
export interface Plan<Traffic = unknown> {
  readonly seed: number;
  /** How long traffic and faults last; what comes behind is healing, and the last look. */
  readonly seconds: number;
  readonly world: WorldPlan;
  readonly faults: readonly FaultPlan[];
  /** Shortcuts of the library that its applications do without. */
  readonly without: readonly Shortcut[];
  readonly traffic: Traffic;
}
