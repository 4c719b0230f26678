import type { Database } from '../database/database.js';
import type { Leadership } from '../database/leadership.js';
import type { Replica } from '../database/replica.js';
import type { RequestRules } from '../requests/client.js';
import type { Session } from '../sessions/session.js';
import type { AnswerLine } from './answer-line.js';
import type { HeldEvents } from './held-events.js';
import type { PlannedFaults } from './planned-faults.js';

/** The state that the connections of one server share. */
export interface ServerContext {
  readonly database: Database;
  readonly replica: Replica;
  readonly leadership: Leadership;
  readonly rules: RequestRules;
  readonly faults: PlannedFaults;
  readonly heldEvents: HeldEvents;
  /** The largest message that is accepted, in bytes: jute.maxbuffer. */
  readonly maxBufferBytes: number;
  /** The longest session timeout that this server grants, in milliseconds. */
  readonly longestSessionMs: number;
  /** Returns the queue of a session's pending answers on this server, on whichever connection the requests arrived. */
  answersOf(session: Session): AnswerLine;
  /** Closes the connections of a session on this server. */
  closeConnections(session: bigint): void;
  /** Called when a client has connected, with the session timeout that it requested. */
  greeted(session: Session, askedMs: number): void;
}
