import type { Database } from '../database/database.js';
import type { Replica } from '../database/replica.js';
import type { Connection } from './connection.js';

/** What can be asked about a server. */
export interface ServerStatus {
  readonly database: Database;
  readonly replica: Replica<Connection>;
  readonly connections: ReadonlySet<Connection>;
  readonly port: number;
  readonly maxBufferBytes: number;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** As the admin words say it: `standalone`, `leader`, `follower`. */
  readonly mode: string;
}
