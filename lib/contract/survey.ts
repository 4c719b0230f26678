import type { Contender } from './contender.js';

/** The kind of a wait queue that a survey found. */
export type SurveyedKind = 'lock' | 'semaphore' | 'election';

/** The bounds of one survey. A survey that reaches one of them is truncated, never slower. */
export interface SurveyQuestion {
  /** Only keys that begin with this text. Without it, all keys below the base path. */
  readonly prefix?: string | undefined;
  /** The maximum number of keys. */
  readonly mostKeys: number;
  /** The maximum number of holders, and of waiting contenders, that are listed for each key. */
  readonly mostContenders: number;
  /** The time after which the survey answers with what it has, in milliseconds. */
  readonly withinMs: number;
  /** Aborts the survey. */
  readonly signal: AbortSignal;
}

/** A key that is held or waited for, at the time of the survey. */
export interface SurveyedKey {
  /** The key, as the application would write it. */
  readonly key: string;
  /** The kind of its wait queue. */
  readonly kind: SurveyedKind;
  /** Its first holders, at most `mostContenders`. */
  readonly holders: readonly Contender[];
  /** The number of contenders that hold. */
  readonly holding: number;
  /** The first waiting contenders, in order, at most `mostContenders`. */
  readonly waiters: readonly Contender[];
  /** The number of contenders that wait. */
  readonly waiting: number;
}

/** A queue of items, at the time of the survey. */
export interface SurveyedQueue {
  /** The key of the queue, as the application would write it. */
  readonly key: string;
  /** The number of items, including those that are taken. */
  readonly items: number;
}

/** All wait queues and queues of items that a backend found within the bounds of a question. */
export interface Survey {
  /** The keys, in no order. */
  readonly keys: readonly SurveyedKey[];
  /** The queues of items, in no order. */
  readonly queues: readonly SurveyedQueue[];
  /** Whether a bound was reached, so that keys may be missing. */
  readonly isTruncated: boolean;
}

/** The connection of a backend, as this process knows it without asking the servers. */
export interface BackendVitals {
  /** The id of the session, as the servers' own tools print it. `undefined` before the first one. */
  readonly sessionId: string | undefined;
  /** The session timeout as granted, in milliseconds. */
  readonly sessionTimeoutMs: number | undefined;
  /** Time until leases would be lost if no server answered any more, in milliseconds. `undefined` without a session. */
  readonly marginMs: number | undefined;
  /** The server that the connection is to. */
  readonly server: string | undefined;
}

/**
 * The states that a connection is told to have, once for each change:
 * - `connected`: a server has answered, in a new session or in the same one.
 * - `suspended`: no server is connected. The session may continue.
 * - `lost`: the session is over, and its leases are lost. The next one is opened.
 * - `closed`: the backend was closed. Nothing follows.
 */
export type SessionState = 'connected' | 'suspended' | 'lost' | 'closed';

/** A change of a connection's state. */
export interface SessionChange {
  /** The new state. */
  readonly state: SessionState;
  /** The state before. `undefined` for the first change. */
  readonly before: SessionState | undefined;
  /** The id of the session, as the servers' own tools print it. `undefined` before the first one. */
  readonly sessionId: string | undefined;
  /** The session timeout as granted, in milliseconds. */
  readonly sessionTimeoutMs: number | undefined;
  /** The server that the connection is to, or was to. */
  readonly server: string | undefined;
  /** The reason of a state that is not `connected`, as text. */
  readonly why: string | undefined;
}
