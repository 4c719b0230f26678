import type { LeaseMode } from './lease.js';

/** Who stands there, as far as is known; of clients of other kinds nothing may be. */
export interface ContenderOwner {
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** What the caller gave as `label`; of a decorated method `Class.method` unless it says. */
  readonly label?: string | undefined;
}

/** Somebody who holds a key or waits for it. */
export interface Contender {
  readonly state: 'held' | 'waiting';
  readonly mode: LeaseMode;
  /** Of mode `'permit'`: how many permits it holds or, where that is known, waits for. */
  readonly permits?: number | undefined;
  readonly owner: ContenderOwner;
  /** Since when it stands there: of those that the servers know by their clock, of the others by this process's. */
  readonly since: Date;
  /** Whether it belongs to this application's connection. */
  readonly isOwn: boolean;
  /** Whether it is a caller of this process who stands behind another one's contender, in memory. */
  readonly isLocal: boolean;
  /** Whether its process only keeps the key, without using it (`keepMs`), and gives it up when asked. */
  readonly isKept: boolean;
}
