/**
 * The first items of a long queue, kept from an earlier list. A list contains all items, so not every take should
 * request one.
 * Items that are put later are behind the kept ones. So the first kept item that is not claimed is the first of the
 * whole queue. The claims are listed for each take. A kept item that does not exist any more was acknowledged.
 */
import { now } from '../../async/clock.js';
import type { Session } from '../session/session.js';

// Listing a short queue costs less than finding out that others have acknowledged some of the kept items.
const SHORTEST = 500;
const MOST_KEPT = 1_000;
// A queue that was deleted and created again has the same names again.
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

/** The first items, in their order. Some of them may not exist any more. `undefined` when a new list is needed. */
export function keptBacklog(session: Session, path: string): readonly string[] | undefined {
  const backlog = backlogsBySession.get(session)?.get(path);
  if (backlog && now() - backlog.seenAt <= LONGEST_MS && backlog.names.size > 0) return [...backlog.names];
  forgetBacklog(session, path);
  return undefined;
}

/** Removes an item that does not exist any more. */
export function leftBacklog(session: Session, path: string): void {
  const slash = path.lastIndexOf('/');
  const backlog = backlogsBySession.get(session)?.get(path.slice(0, slash));
  backlog?.names.delete(path.slice(slash + 1));
}

export function forgetBacklog(session: Session, path: string): void {
  backlogsBySession.get(session)?.delete(path);
}
