/**
 * What a contender's name says. Pure.
 *
 * It ends in its kind and the number that its parent gave it: `_c_<uuid>-lock-0000000007`, `…__WRIT__0000000008`,
 * `…__READ__0000000009`, `…-latch-0000000010`, as Apache Curator writes them. Order is by the number alone. A line is of
 * locks or of candidates; whoever is not of its kind, and anything else under the path, is no contender and blocks nobody.
 */
import { randomUUID } from 'node:crypto';
import { CONTENDER_MARKS, markedNumber } from '../session/contender-name.js';

export type ContenderKind = keyof typeof CONTENDER_MARKS;

/** Who stands in a line with whom: contenders for a lock, or candidates of an election. */
export type LineKind = 'locks' | 'candidates';

/** A place in line, as a name tells it. */
export interface ContenderName {
  readonly name: string;
  readonly kind: ContenderKind;
  readonly number: number;
}

const MARKS = Object.values(CONTENDER_MARKS);
const KINDS = {
  [CONTENDER_MARKS.lock]: 'lock',
  [CONTENDER_MARKS.write]: 'write',
  [CONTENDER_MARKS.read]: 'read',
  [CONTENDER_MARKS.latch]: 'latch',
} as const;

const PLACES_OF_A_NUMBER = 10;

/** The end of a contender's name, before its number. */
export function markOf(kind: ContenderKind): string {
  return CONTENDER_MARKS[kind];
}

/** The name of a reader's contender with the place of a writer's: nobody who came after the writer is before it. */
export function readerInPlaceOf(writer: string): string {
  return `_c_${randomUUID()}-${CONTENDER_MARKS.read}${writer.slice(-PLACES_OF_A_NUMBER)}`;
}

/** `undefined` for what is no contender, of whatever line. */
export function standingOf(name: string): ContenderName | undefined {
  const found = markedNumber(name, MARKS);
  return found && { name, kind: KINDS[found.mark], number: found.number };
}

/** Those who stand in the line, of the names under its path; in no order. */
export function standingsIn(line: LineKind, names: readonly string[]): ContenderName[] {
  const standings: ContenderName[] = [];
  for (const name of names) {
    const standing = standingOf(name);
    if (standing && lineOf(standing.kind) === line) standings.push(standing);
  }
  return standings;
}

/** The line that a contender stands in, as its name tells. */
export function lineKindOf(name: string): LineKind {
  return lineOf(standingOf(name)?.kind);
}

/** The line in which contenders of this kind stand. */
export function lineOf(kind: ContenderKind | undefined): LineKind {
  return kind === 'latch' ? 'candidates' : 'locks';
}

// The version of a UUID that everybody may give a meaning of their own to.
const KEEPER = /^_c_[0-9a-f]{8}-[0-9a-f]{4}-8/;

/** An id for a contender's name; one of a contender that may be kept without being used can be told from it. */
export function contenderNameId(keeps = false): string {
  const id = randomUUID();
  return keeps ? `${id.slice(0, 14)}8${id.slice(15)}` : id;
}

/** Whether the name has an id that no other znode's has. */
export function hasOwnName(name: string): boolean {
  return name.startsWith('_c_');
}

/** Whether the contender may be kept without being used, and leaves then when somebody lines up behind it. */
export function mayBeIdle(name: string): boolean {
  return KEEPER.test(name);
}

/** The number that the parent gave to a contender; `undefined` for what is none. */
export function numberOf(name: string): number | undefined {
  return standingOf(name)?.number;
}

/** Whether anybody but `own` stands in its line. */
export function hasOthers(own: string, names: readonly string[]): boolean {
  return standingsIn(lineKindOf(own), names).some(({ name }) => name !== own);
}

/** Less than 0 when `a` is before `b`, 0 when nothing can be said about their order. */
export function compareStandings(a: ContenderName, b: ContenderName): number {
  // The difference and not the numbers: the counter is 32 bits wide.
  return (a.number - b.number) | 0;
}

/** Whether both can not hold at once. */
export function excludes(other: ContenderName, me: ContenderName): boolean {
  return me.kind !== 'read' || other.kind !== 'read';
}
