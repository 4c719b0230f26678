import type { SharingOptions } from '../../../lib/service/lock-service.options.js';
import type { BackendName } from '../servers/servers.js';
import type { Mode } from '../model/history.js';

/** The locks that a worker uses: the real ones, or ones with a planted defect that has to be detected. */
export type LockUnderTest = 'real' | 'everybody' | 'deaf' | 'forgetful';

/** Milliseconds, both ends included. */
export type Span = readonly [shortest: number, longest: number];

/** The requests of the clients of a process. */
export interface LockTraffic {
  /** Keys that all clients acquire for a few milliseconds, repeatedly. */
  readonly busyKeys: readonly string[];
  /** The time that busy keys are held. */
  readonly busyMs: Span;
  /** Keys that are never written. Readers are always granted them, and are never refused because they are taken. */
  readonly readOnlyKeys: readonly string[];
  /** The share of requests for read-only keys. */
  readonly readOnlyShare: number;
  /** The time that read-only keys are held. */
  readonly readOnlyMs: Span;
  /** Keys that are held for long, so that enough leases exist at any fault. */
  readonly keptKeys: readonly string[];
  /** The share of requests for long-held keys. */
  readonly keptShare: number;
  /** The time that they are held. */
  readonly keptMs: Span;
  /** The longest wait for them, in milliseconds. */
  readonly keptWaitMs: number;
  /**
   * The share of requests for one of many keys. Each is used so seldom that its directory is removed in between, and
   * callers come in at the very moment of that. Default: none.
   */
  readonly seldomShare?: number;
  /** The weights of the kinds of acquisitions of a busy key. */
  readonly kinds: Readonly<Partial<Record<AskKind, number>>>;
  /** The longest waits for a busy key, in milliseconds. Each request has one of them. */
  readonly waitsMs: readonly number[];
  /** The time after which an aborted request gives up. */
  readonly abortAfterMs: Span;
  /** The rest of a client between two acquisitions. */
  readonly pauseMs: Span;
}

/** The traffic of a scenario. */
export interface TrafficShape extends LockTraffic {
  /** Whether the process can connect to another server when its own is affected by a fault. */
  readonly knows: 'all servers' | 'one server';
  /** The number of concurrent acquisitions of a process. */
  readonly clientsPerWorker: number;
  /** The ways in which the callers of one process share a key. Each process uses one of these. */
  readonly sharings: readonly SharingOptions[];
}

/** The keys that every worker must be granted in every mode when the traffic is over. */
export function keysOf({ busyKeys, keptKeys }: LockTraffic): readonly string[] {
  return [...busyKeys, ...keptKeys];
}

export type AskKind =
  'mutex' | 'read' | 'write' | 'try' | 'aborted' | 'using' | 'decorated' | 'single' | 'multi' | 'revoke';

/** The orders that a worker gets from the process that started it: its one argument, as JSON. */
export interface WorkerOrders {
  readonly process: string;
  readonly seed: number;
  readonly journal: string;
  readonly backend: BackendName;
  /** The servers as `host:port`, with commas. */
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  readonly lock: LockUnderTest;
  /** The longest time for each acquisition of the final round. */
  readonly finalLimitMs: number;
  readonly traffic: TrafficShape;
}

/** A message to a worker while it runs. */
export type Order =
  | { readonly order: 'stall'; readonly ms: number }
  /** Stops the traffic, then acquires every key once. */
  | { readonly order: 'finish' }
  | { readonly order: 'close' }
  | { readonly order: 'answer'; readonly write: number; readonly accepted: boolean };

/** A message from a worker. */
export type Report =
  | { readonly report: 'ready' }
  | { readonly report: 'finished' }
  | {
      readonly report: 'write';
      readonly write: number;
      readonly hold: string;
      readonly key: string;
      readonly mode: Mode;
      readonly token: string;
    };

export const FINAL_MODES: readonly Mode[] = ['read', 'exclusive'];
