/**
 * What a list of a long queue has shown, so that not every take needs another one, which has all items in it. What comes
 * later stands behind these, so the first of them that nobody has taken is the first of all; who has taken which is asked
 * for each time. An item of these that is not there any more was acknowledged.
 */
import { now } from '../../async/clock.js';
import type { Session } from '../session/session.js';

// A short list costs less than to find out that others have acknowledged some of it.
const SHORTEST = 500;
const MOST_KEPT = 1_000;
// Begun anew, a queue has the same names again.
const LONGEST_MS = 1_000;

interface Backlog {
  readonly names: Set<string>;
  readonly seenAt: number;
}

const backlogsBySession = new WeakMap<Session, Map<string, Backlog>>();

/** @param names all items in their order */
export function keepBacklog(session: Session, path: string, names: readonly string[]): void {
  const backlogs = backlogsBySession.get(session) ?? new Map<string, Backlog>();
  backlogsBySession.set(session, backlogs);
  if (names.length < SHORTEST) backlogs.delete(path);
  else backlogs.set(path, { names: new Set(names.slice(0, MOST_KEPT)), seenAt: now() });
}

/** The first items, in their order, some of which may not be there any more; `undefined` when a list is needed. */
export function keptBacklog(session: Session, path: string): readonly string[] | undefined {
  const backlog = backlogsBySession.get(session)?.get(path);
  if (backlog && now() - backlog.seenAt <= LONGEST_MS && backlog.names.size > 0) return [...backlog.names];
  forgetBacklog(session, path);
  return undefined;
}

/** The item is not there any more. */
export function leftBacklog(session: Session, path: string): void {
  const slash = path.lastIndexOf('/');
  const backlog = backlogsBySession.get(session)?.get(path.slice(0, slash));
  backlog?.names.delete(path.slice(slash + 1));
}

export function forgetBacklog(session: Session, path: string): void {
  backlogsBySession.get(session)?.delete(path);
}
