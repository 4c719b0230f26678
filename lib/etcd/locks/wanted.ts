import type { EtcdReport } from '../session/session-report.js';
import type { QueueKeys } from '../session/etcd-keys.js';
import type { NewEntry } from './entry.js';
import type { QueueViews } from './queue-views.js';

/** One request for a place in a wait queue. */
export interface Wanted {
  /** The key as the application wrote it. */
  readonly name: string;
  readonly queue: QueueKeys;
  readonly entry: NewEntry;
  /** The time that a release waits for its answer. */
  readonly releaseTimeoutMs: number;
  readonly views: QueueViews;
  /** The log of the connection, for what no caller is told. */
  readonly report?: EtcdReport;
}
