import { now } from '../async/clock.js';
import { limited } from '../async/timer.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { ServingSessions } from '../sessions/backend-sessions.js';
import { inSession } from './session-retry.js';
import { askToGiveWay, holdersOf, readersAmong, removeByForce, untilGivenWay } from './recipes/revocation.js';
import type { CreatedNode } from './session/requests.js';
import type { Session } from './session/session.js';

/** The key that is revoked, and its path. */
interface Revoked {
  readonly key: string;
  readonly path: string;
}

/**
 * Asks the holders to release, waits for them, and deletes the znodes of those that remain. Uses as many sessions as
 * that takes.
 */
export async function revoke(
  sessions: ServingSessions<Session>,
  { key, path }: Revoked,
  { graceMs, signal }: ResolvedRevokeOptions,
): Promise<void> {
  const end = now() + graceMs;
  const ask: Ask = (what) => inSession(sessions, { key, wait: false, signal }, what);
  let holders = await ask((session, limit) => holdersOf(session, path, limit));
  while (holders.length > 0) {
    const asked = await ask((session, limit) => askToGiveWay(session, holders, limit));
    const haveGiven = await limited(Math.max(0, end - now()), signal, (limit) => {
      return untilAllGiven(sessions, key, asked, limit);
    });
    if (!haveGiven) await ask((session, limit) => removeByForce(session, asked, limit));
    holders = await ask((session, limit) => readersAmong(session, path, holders, limit));
  }
}

/** Makes a request to the servers, for no longer than they may take to answer. */
type Ask = <T>(what: (session: Session, limit: AbortSignal) => Promise<T>) => Promise<T>;

async function untilAllGiven(
  sessions: ServingSessions<Session>,
  key: string,
  asked: readonly CreatedNode[],
  limit: AbortSignal,
): Promise<true> {
  await inSession(sessions, { key, wait: true, signal: limit }, (session) => untilGivenWay(session, asked, limit));
  return true;
}
