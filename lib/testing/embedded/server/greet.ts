import type { Database } from '../database/database.js';
import type { Replica } from '../database/replica.js';
import type { Session } from '../sessions/session.js';
import type { ConnectRequest } from '../wire/connect-request.js';

/**
 * The session that a connection is to speak for; `undefined` when there is none such, or its password is another.
 * As in ZooKeeper an older connection of it ends first, also when the password then proves wrong.
 */
export function sessionFor(request: ConnectRequest, database: Database): Session | undefined {
  if (request.sessionId === 0n) return database.openSession(request.timeoutMs);
  const session = database.sessions.get(request.sessionId);
  session?.connection?.close();
  if (!session?.password.equals(request.password)) return undefined;
  session.timeoutMs = database.sessions.granted(request.timeoutMs);
  database.sessions.touch(session);
  return session;
}

/** Whoever has seen more than this server knows must find another one. */
export function isAhead({ lastZxidSeen }: ConnectRequest, replica: Replica): boolean {
  return lastZxidSeen > replica.zxid;
}
