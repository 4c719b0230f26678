import { now } from '../async/clock.js';
import { limited } from '../async/limited.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import { askSessions } from './across-sessions.js';
import { askToGiveWay, removeByForce, untilGivenWay } from './recipes/revocation.js';
import type { CreatedNode } from './session/requests.js';
import { SessionEndedError } from './session/session-ended-error.js';
import type { Session } from './session/session.js';
import type { SessionSupervisor } from './session/session-supervisor.js';

type Sessions = Pick<SessionSupervisor, 'inTime' | 'session'>;

/** Which key is revoked, and where it lies. */
interface Revoked {
  readonly key: string;
  readonly path: string;
}

interface Asked {
  readonly session: Session;
  readonly holders: readonly CreatedNode[];
}

/** Asks the holders, waits for them, and takes the key from those who are left; over as many sessions as that takes. */
export async function revoke(sessions: Sessions, revoked: Revoked, options: ResolvedRevokeOptions): Promise<void> {
  const begun = now();
  for (;;) {
    const asked = await askHolders(sessions, revoked, options);
    try {
      const graceMs = Math.max(0, options.graceMs - (now() - begun));
      if (!(await haveGiven(asked, graceMs, options))) await takeAway(sessions, revoked, asked, options);
      return;
    } catch (error) {
      if (!(error instanceof SessionEndedError)) throw error;
    }
  }
}

function askHolders(sessions: Sessions, { key, path }: Revoked, { signal }: ResolvedRevokeOptions): Promise<Asked> {
  const ask = async (session: Session, limit: AbortSignal): Promise<Asked> => {
    return { session, holders: await askToGiveWay(session, path, limit) };
  };
  return askSessions(sessions, key, ask, signal);
}

/** Whether all of them have given way in time. */
async function haveGiven({ session, holders }: Asked, graceMs: number, { signal }: ResolvedRevokeOptions) {
  return limited(graceMs, signal, async (limit) => {
    await untilGivenWay(session, holders, limit);
    return true;
  });
}

function takeAway(
  sessions: Sessions,
  { key }: Revoked,
  { holders }: Asked,
  { signal }: ResolvedRevokeOptions,
): Promise<void> {
  const remove = (session: Session, limit: AbortSignal) => removeByForce(session, holders, limit);
  return askSessions(sessions, key, remove, signal);
}
