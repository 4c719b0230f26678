import { Dictionary } from '../../async/dictionary.js';
import { LoopTurn } from '../../async/loop-turn.js';
import type { Session } from '../session/session.js';
import type { EntryDelay } from './entry-delay.js';
import { Line } from './line.js';
import type { Member } from './line.js';
import { lineKindOf, lineOf } from './standing.js';
import type { ContenderKind, LineKind } from './standing.js';

/** Of each kind by path: they may stand under the same one, and then know nothing of each other. */
interface Lines extends Record<LineKind, Dictionary<Line>> {
  readonly turn: LoopTurn;
}

const linesBySession = new WeakMap<Session, Lines>();

function emptyLines(): Lines {
  return { locks: new Dictionary(), candidates: new Dictionary(), turn: new LoopTurn() };
}

/** Lets a contender join its line in the directory, as this session knows it; it is forgotten when all have parted. */
export function joinLine(session: Session, path: string, contender: Member): Line {
  const lines = linesBySession.get(session) ?? emptyLines();
  linesBySession.set(session, lines);
  const kind = lineKindOf(contender.name);
  const line = lines[kind].get(path) ?? new Line(session, path, kind, lines.turn);
  lines[kind].set(path, line);
  line.joined(contender);
  return line;
}

/** The contender has gone out, or was found to be gone. */
export function partFromLine(session: Session, path: string, contender: Member, how: 'left' | 'unknown'): void {
  const lines = linesBySession.get(session)?.[lineKindOf(contender.name)];
  const line = lines?.get(path);
  line?.parted(contender, how);
  if (line?.isEmpty) lines?.delete(path);
}

/** How contenders of this kind come in there; `undefined` while nobody of the session stands in that line. */
export function entryDelayAt(session: Session, path: string, kind: ContenderKind): EntryDelay | undefined {
  return linesBySession.get(session)?.[lineOf(kind)].get(path)?.entryDelay;
}
