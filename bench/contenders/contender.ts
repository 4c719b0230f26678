import type { ProgramName } from '../crew/programs.js';
import type { ServerName } from '../servers/servers.js';
import type { ContenderOptions } from './node/contender.js';

/** A lock implementation that is measured. */
export interface Contender {
  /** Its name on the command line, in the file of results and in the claims. */
  readonly id: ContenderId;
  readonly label: string;
  readonly program: ProgramName;
  /** Its name in its program. */
  readonly module: string;
  readonly options?: ContenderOptions;
  readonly server: ServerName;
  /** Whether all waiters of one process share one place in the server's wait queue. */
  readonly isLocalLine?: boolean;
  /** Whether its connections are reset again and again. */
  readonly isReset?: boolean;
}

export type ContenderId =
  | 'floor'
  | 'plain-recipe'
  | 'ours'
  | 'ours-strict'
  | 'ours-kept'
  | 'ours-reset'
  | 'floor-redis'
  | 'floor-redis-queue'
  | 'floor-redis-head'
  | 'floor-redis-lock'
  | 'ours-redis'
  | 'ours-redis-strict'
  | 'floor-etcd'
  | 'ours-etcd'
  | 'ours-etcd-strict'
  | 'curator'
  | 'curator-shared'
  | 'curator-semaphore'
  | 'curator-read-write'
  | 'kazoo'
  | 'redis-semaphore'
  | 'redis-semaphore-fsync'
  | 'redlock'
  | 'etcd3'
  | 'no-lock';
