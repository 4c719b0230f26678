import type { SharingOptions } from '../../../lib/service/lock-service.options.js';
import type { Mode } from '../model/history.js';

/** The locks a worker takes: the real ones, or ones that are broken on purpose, to see that this is found out. */
export type LockUnderTest = 'real' | 'everybody' | 'deaf' | 'forgetful';

/** Milliseconds, both ends included. */
export type Span = readonly [shortest: number, longest: number];

/** What the clients of a process ask for. */
export interface LockTraffic {
  /** Keys that everybody takes for a few milliseconds, again and again. */
  readonly busyKeys: readonly string[];
  /** How long those are held, in milliseconds. */
  readonly busyMs: Span;
  /** Keys that nobody writes: readers get them whatever else happens, and are never told that they are taken. */
  readonly readOnlyKeys: readonly string[];
  /** How often it is one of those that is asked for. */
  readonly readOnlyShare: number;
  /** How long those are held, in milliseconds. */
  readonly readOnlyMs: Span;
  /** Keys that are kept for long: of such leases there are enough when something breaks. */
  readonly keptKeys: readonly string[];
  /** How often it is one of those that is asked for. */
  readonly keptShare: number;
  /** How long they are kept, in milliseconds. */
  readonly keptMs: Span;
  /** How long callers are ready to wait for them, in milliseconds. */
  readonly keptWaitMs: number;
  /** How often an acquisition of a busy key is of which kind. */
  readonly kinds: Readonly<Partial<Record<AskKind, number>>>;
  /** How long callers are ready to wait for a busy key, in milliseconds: one of these. */
  readonly waitsMs: readonly number[];
  /** How soon a caller gives up that is aborted, in milliseconds. */
  readonly abortAfterMs: Span;
  /** How long a client rests between two acquisitions, in milliseconds. */
  readonly pauseMs: Span;
}

/** What the traffic of a scenario looks like. */
export interface TrafficShape extends LockTraffic {
  /** Whether the process can go elsewhere when its server is in trouble. */
  readonly knows: 'all servers' | 'one server';
  /** How many acquisitions a process has under way at once. */
  readonly clientsPerWorker: number;
  /** How the callers of one process share a key; each process does one of these. */
  readonly sharings: readonly SharingOptions[];
}

/** The keys that everybody must get in every mode when the traffic is over. */
export function keysOf({ busyKeys, keptKeys }: LockTraffic): readonly string[] {
  return [...busyKeys, ...keptKeys];
}

export type AskKind =
  'mutex' | 'read' | 'write' | 'try' | 'aborted' | 'using' | 'decorated' | 'single' | 'multi' | 'revoke';

/** What a worker is told by the one who started it: its one argument, as JSON. */
export interface WorkerOrders {
  readonly process: string;
  readonly seed: number;
  readonly journal: string;
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  readonly lock: LockUnderTest;
  /** How long each acquisition of the final round may take. */
  readonly finalLimitMs: number;
  readonly traffic: TrafficShape;
}

/** What a worker is told while it runs. */
export type Order =
  | { readonly order: 'stall'; readonly ms: number }
  /** Stops the traffic, then takes every key once. */
  | { readonly order: 'finish' }
  | { readonly order: 'close' }
  | { readonly order: 'answer'; readonly write: number; readonly accepted: boolean };

/** What a worker says. */
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
