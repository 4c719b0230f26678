import type { EmbeddedZooKeeperOptions } from '../../../lib/testing/embedded/embedded.options.js';
import type { Shortcut } from '../../support/shortcuts.js';
import type { Delays } from '../network/link.js';

/** A range of values, both ends included. */
export type Range = readonly [least: number, most: number];

/** The parameters of the world. Times are in milliseconds, except where stated otherwise. */
export interface WorldPlan {
  readonly servers: number;
  readonly apps: number;
  readonly sessionTimeoutMs: number;
  /** The longest session timeout that each server grants. */
  readonly serverTimeoutsMs: readonly number[];
  readonly tickTimeMs: number;
  readonly containerCheckIntervalMs: NonNullable<EmbeddedZooKeeperOptions['containerCheckIntervalMs']>;
  /** The delays between applications and servers. */
  readonly link: Delays;
  /** The delay between servers. */
  readonly peerDelayMs: Range;
  readonly electionMs: Range;
  /** The time for which a server that is cut off from its leader continues. */
  readonly syncLimitMs: Range;
  /** The delay between the earliest end of a session and its actual end. */
  readonly expiryDelayMs: Range;
  /** The time for which a callback keeps a process busy, in microseconds. */
  readonly callbackUs: number;
  /** The rate of each application's clock, as a share of the servers' rate. */
  readonly clockRates: readonly number[];
  /** The error of each application's wall clock. */
  readonly wallSkewsMs: readonly number[];
}

export type Way = 'there' | 'back' | 'both';

/** A fault, its time and its duration. `app` and `server` count from 0; a server may also be given by its role. */
export interface FaultPlan {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: FaultKind;
  readonly app?: number;
  readonly server?: number | 'leader' | 'follower';
  readonly way?: Way;
  /** For a link that is held both ways: how long the way back is held, if it opens before the other one. */
  readonly backForMs?: number;
  /** The size of the fault, for kinds that have one. */
  readonly ms?: number;
  /** The type of the requests. */
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

/**
 * With `data-gone`, the servers come back empty. No lock survives that, so a run with it shows only whether all
 * processes continue.
 */
export type FaultKind = (typeof FAULT_KINDS)[number] | 'data-gone';

/**
 * The complete input of a run: two runs of one plan are the same, byte for byte. It is data, so it can be kept, shrunk
 * and changed.
 */
export interface Plan<Traffic = unknown> {
  readonly seed: number;
  /** The duration of traffic and faults. Healing and the last look come after it. */
  readonly seconds: number;
  readonly world: WorldPlan;
  readonly faults: readonly FaultPlan[];
  /** Shortcuts of the library that the applications of the run have switched off. */
  readonly without: readonly Shortcut[];
  readonly traffic: Traffic;
}
