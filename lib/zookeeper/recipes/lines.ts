import type { Session } from '../session/session.js';
import { Line } from './line.js';
import type { Member } from './line.js';

const linesBySession = new WeakMap<Session, Map<string, Line>>();

/** Lets a contender join the line of its directory, as this session knows it; it is forgotten when all have parted. */
export function joinLine(session: Session, path: string, contender: Member): Line {
  const lines = linesBySession.get(session) ?? new Map<string, Line>();
  linesBySession.set(session, lines);
  const line = lines.get(path) ?? new Line(session, path);
  lines.set(path, line);
  line.joined(contender);
  return line;
}

/** The contender has gone out, or was found to be gone. */
export function partFromLine(session: Session, path: string, contender: Member, how: 'left' | 'unknown'): void {
  const lines = linesBySession.get(session);
  const line = lines?.get(path);
  line?.parted(contender, how);
  if (line?.isEmpty) lines?.delete(path);
}
