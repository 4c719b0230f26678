// The JSON that the page gets. The page's own code imports these types, and nothing else of the server's.

/** The actions of the page that change something. */
export type DashboardAction = 'revoke' | 'resign' | 'forget';

/** The process and the call behind a contender. Each text is bounded, and may have been written by another client. */
export interface ShownOwner {
  readonly label: string | null;
  readonly host: string | null;
  readonly pid: number | null;
}

/** A contender of a key. */
export interface ShownContender {
  readonly state: 'held' | 'waiting';
  readonly mode: string;
  readonly permits: number | null;
  readonly owner: ShownOwner;
  /** The time since which it holds or waits, in milliseconds since 1970. */
  readonly since: number | null;
  readonly isOwn: boolean;
  readonly isLocal: boolean;
  readonly isKept: boolean;
}

/** A wait queue in the overview: the first contenders, and the number of all. */
export interface ShownKey {
  /** The name of the key in requests. It is the key, unless keys are redacted. */
  readonly id: string;
  readonly key: string;
  readonly kind: 'lock' | 'semaphore' | 'election' | 'job';
  /** The service that an election or a job belongs to. */
  readonly service: string | null;
  readonly holding: number;
  readonly waiting: number;
  readonly holders: readonly ShownContender[];
  readonly waiters: readonly ShownContender[];
  /** The time since which its oldest holder holds, in milliseconds since 1970. */
  readonly heldSince: number | null;
  /** The time since which its first waiting contender waits, in milliseconds since 1970. */
  readonly waitingSince: number | null;
}

/** A queue of items. */
export interface ShownQueue {
  readonly key: string;
  /** The service that it belongs to. */
  readonly service: string | null;
  readonly items: number;
}

/** The latest run of a job. */
export interface ShownRun {
  readonly id: string;
  readonly name: string;
  readonly tick: number | null;
  readonly state: string;
  readonly owner: ShownOwner;
  readonly attempt: number;
  readonly startedAt: number;
  readonly durationMs: number | null;
  readonly error: string | null;
}

/** A stock, with the units of each segment. */
export interface ShownStock {
  readonly key: string;
  readonly segments: readonly number[];
}

/** Leases that one process of the cluster has lost together. */
export interface ShownLoss {
  readonly id: string;
  readonly at: number;
  readonly service: string | null;
  /** The process. Its label is that of the first lease. */
  readonly owner: ShownOwner;
  /** The first of the keys. */
  readonly keys: readonly string[];
  readonly leases: number;
  readonly reason: string | null;
}

/** One hold of a key, as surveys saw it. Holds that began and ended between two surveys are not among them. */
export interface ShownHold {
  readonly owner: ShownOwner;
  readonly mode: string;
  readonly from: number;
  /** `null` while it holds. */
  readonly to: number | null;
}

/** An event of this process, or an action of the page. */
export interface ShownEvent {
  readonly at: number;
  /** Whether an operator should look at it. */
  readonly level: 'info' | 'warn';
  readonly what: string;
  readonly key: string | null;
}

/** A stretch of time during which the session had one state. It ends where the next one begins. */
export interface ShownSessionState {
  readonly at: number;
  readonly state: string;
}

/** The connection of this process in numbers. */
export interface ShownVitals {
  readonly sessionId: string | null;
  readonly timeoutMs: number | null;
  /** Rounded to a twentieth of the timeout. */
  readonly marginMs: number | null;
  readonly server: string | null;
}

/** Durations in buckets: as many numbers as there are bounds, and one more for what is longer than all. */
export interface ShownDurations {
  readonly boundsMs: readonly number[];
  readonly counts: readonly number[];
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** This instance's own part, which differs from instance to instance. */
export interface ShownProcess {
  readonly state: string;
  readonly states: readonly ShownSessionState[];
  readonly vitals: ShownVitals | null;
  readonly waits: ShownDurations;
  readonly holds: ShownDurations;
  readonly lost: number;
  readonly timeouts: number;
  readonly events: readonly ShownEvent[];
}

/** One point of the history. Numbers of the cluster are those of the last survey before it. */
export interface ShownPoint {
  readonly at: number;
  readonly held: number;
  readonly waiting: number;
  /** Leases that this process was granted, each second. */
  readonly grants: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** The least lease margin, as a share of the session timeout. */
  readonly margin: number | null;
}

/** A revocation that is under way. */
export interface ShownRevocation {
  readonly id: string;
  readonly key: string;
  readonly since: number;
  readonly graceMs: number;
}

/** The answer of `GET api/state`. */
export interface StateAnswer {
  readonly instance: { readonly id: string; readonly host: string | null; readonly pid: number; readonly node: string };
  readonly connection: string;
  readonly connections: readonly string[];
  readonly backend: string;
  readonly actions: readonly DashboardAction[];
  /** The reason why there is no survey; `null` when there is one. */
  readonly fault: string | null;
  /** The first of the option's `paths` that could not be looked at, and the reason. The rest is there. */
  readonly pathFault: string | null;
  readonly isTruncated: boolean;
  /** Whether the survey that begins at the text searched for has not answered yet. There may be more keys that match. */
  readonly isSearchAwaited: boolean;
  /** The reason why that survey failed, `null` if it did not. There may be more keys that match. */
  readonly searchFault: string | null;
  /** The number of keys that match, of which `keys` are the first. */
  readonly total: number;
  readonly held: number;
  readonly waiting: number;
  readonly keys: readonly ShownKey[];
  readonly elections: readonly ShownKey[];
  readonly queues: readonly ShownQueue[];
  /** `null` unless the view asks for them, and while they cannot be read. */
  readonly runs: readonly ShownRun[] | null;
  /** `null` unless the view asks for them, and while they cannot be read. */
  readonly stocks: readonly ShownStock[] | null;
  /** The latest losses of all instances. `null` unless the view asks for them, and while they cannot be read. */
  readonly losses: readonly ShownLoss[] | null;
  readonly process: ShownProcess;
  readonly history: readonly ShownPoint[];
  readonly revocation: ShownRevocation | null;
}

/** The answer of `GET api/key`. */
export interface KeyAnswer {
  readonly instance: { readonly id: string };
  readonly id: string;
  readonly key: string;
  readonly contenders: readonly ShownContender[];
  /** The number of contenders that are left out. */
  readonly more: number;
  readonly holds: readonly ShownHold[];
  readonly revocation: ShownRevocation | null;
}
