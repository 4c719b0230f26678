import type { ProgramName } from '../crew/programs.js';
import type { ServerName } from '../servers/servers.js';
import type { ContenderOptions } from './node/contender.js';

/** Somebody whose locks are measured. */
export interface Contender {
  /** What the command line, the file of results and the claims call it. */
  readonly id: ContenderId;
  readonly label: string;
  readonly program: ProgramName;
  /** What its program calls it. */
  readonly module: string;
  readonly options?: ContenderOptions;
  readonly server: ServerName;
  /** Whether all waiters of one process stand in one place of the server's line. */
  readonly isLocalLine?: boolean;
}

export type ContenderId =
  | 'floor'
  | 'ours'
  | 'ours-strict'
  | 'ours-kept'
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
