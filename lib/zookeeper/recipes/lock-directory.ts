import type { Acl } from '../session/requests.js';

/** The znode under which the contenders of one key stand, and how they and it are made. */
export interface LockDirectory {
  readonly path: string;
  readonly acl: readonly Acl[];
  /** Containers are removed by the servers once they are empty; persistent parents stay. */
  readonly parents: 'container' | 'persistent';
  /** How long a release waits for its answer before it goes on in the background, in milliseconds. */
  readonly releaseTimeoutMs: number;
  /** How long who waits for a lock behind several others of its session is held back, see `entry-delay.ts`. Default: 0. */
  readonly entryDelayMs?: number;
}
