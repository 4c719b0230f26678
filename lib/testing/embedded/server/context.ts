import type { Database } from '../database/database.js';
import type { Leadership } from '../database/leadership.js';
import type { Replica } from '../database/replica.js';
import type { RequestRules } from '../requests/client.js';
import type { Session } from '../sessions/session.js';
import type { AnswerLine } from './answer-line.js';
import type { HeldEvents } from './held-events.js';
import type { PlannedFaults } from './planned-faults.js';

/** What the connections of one server share. */
export interface ServerContext {
  readonly database: Database;
  readonly replica: Replica;
  readonly leadership: Leadership;
  readonly rules: RequestRules;
  readonly faults: PlannedFaults;
  readonly heldEvents: HeldEvents;
  /** The largest message that is taken, in bytes: jute.maxbuffer. */
  readonly maxBufferBytes: number;
  /** The longest session that this server grants, in milliseconds. */
  readonly longestSessionMs: number;
  /** Where a session's requests to this server wait for their answers, on whichever connection they came. */
  answersOf(session: Session): AnswerLine;
  /** Ends the connections here that speak for a session. */
  closeConnections(session: bigint): void;
  /** A client has connected, and had asked for a session of so many milliseconds. */
  greeted(session: Session, askedMs: number): void;
}
