import type { Database } from '../database/database.js';
import type { Replica } from '../database/replica.js';
import type { Connection } from './connection.js';

/** The state of a server that can be queried. */
export interface ServerStatus {
  readonly database: Database;
  readonly replica: Replica<Connection>;
  readonly connections: ReadonlySet<Connection>;
  readonly port: number;
  readonly maxBufferBytes: number;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** The mode as in the admin words: `standalone`, `leader`, `follower`. */
  readonly mode: string;
}
