import type { Database } from '../database/database.js';
import type { Replica } from '../database/replica.js';
import type { Session } from '../sessions/session.js';
import type { Identity } from '../tree/identity.js';
import type { Watcher } from '../watches/watch-table.js';

/** The sender of requests: a session, over one connection to one server. */
export interface Client {
  readonly database: Database;
  readonly replica: Replica;
  readonly session: Session;
  readonly watcher: Watcher;
  readonly rules: RequestRules;
  /** Its address, and the identities that it has proved on this connection. */
  readonly identities: readonly Identity[];
  prove(identity: Identity): void;
}

/** The requests that a server is configured to allow. */
export interface RequestRules {
  /** Whether znodes may have a time to live. */
  readonly extendedTypes: boolean;
  /** The `user:<digest>` to whom no ACL applies. */
  readonly superDigest: string | undefined;
}
