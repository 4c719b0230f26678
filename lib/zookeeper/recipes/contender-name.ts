/**
 * Parsing and building of contenders' names. Pure.
 *
 * A name ends in the contender's kind and the number that its parent assigned: `_c_<uuid>-lock-0000000007`,
 * `…__WRIT__0000000008`, `…__READ__0000000009`, `…-latch-0000000010`, as Apache Curator writes them. Order is by the
 * number alone. A wait queue is of locks or of candidates. Contenders of the other kind, and any other names under the
 * path, are not its contenders and block none.
 */
import { randomUUID } from 'node:crypto';
import { CONTENDER_MARKS, markedNumber } from '../session/contender-name.js';

export type ContenderKind = keyof typeof CONTENDER_MARKS;

/** The kinds of wait queues: of contenders for a lock, or of candidates of an election. */
export type QueueKind = 'locks' | 'candidates';

/** A contender's place in its wait queue, parsed from its name. */
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

/** The mark in a contender's name, right before its number. */
export function markOf(kind: ContenderKind): string {
  return CONTENDER_MARKS[kind];
}

/** The name of a reader in the place of a writer. No contender that was created after the writer is before it. */
export function readerInPlaceOf(writer: string): string {
  return `_c_${randomUUID()}-${CONTENDER_MARKS.read}${writer.slice(-PLACES_OF_A_NUMBER)}`;
}

/** The parsed name of a contender of any wait queue. `undefined` for all other names. */
export function contenderNameOf(name: string): ContenderName | undefined {
  const found = markedNumber(name, MARKS);
  return found && { name, kind: KINDS[found.mark], number: found.number };
}

/** The contenders of this kind of wait queue among the names under its path, in no order. */
export function contenderNamesIn(line: QueueKind, names: readonly string[]): ContenderName[] {
  const contenders: ContenderName[] = [];
  for (const name of names) {
    const contender = contenderNameOf(name);
    if (contender && lineOf(contender.kind) === line) contenders.push(contender);
  }
  return contenders;
}

/** The kind of wait queue that a contender is in, by its name. */
export function queueKindOf(name: string): QueueKind {
  return lineOf(contenderNameOf(name)?.kind);
}

/** The kind of wait queue that contenders of this kind are in. */
export function lineOf(kind: ContenderKind | undefined): QueueKind {
  return kind === 'latch' ? 'candidates' : 'locks';
}

// The version of a UUID that is free for custom meanings.
const KEEPER = /^_c_[0-9a-f]{8}-[0-9a-f]{4}-8/;

/** An id for a contender's name. The id of a contender that may hold a warm lease can be told from others. */
export function contenderNameId(keeps = false): string {
  const id = randomUUID();
  return keeps ? `${id.slice(0, 14)}8${id.slice(15)}` : id;
}

/** Whether the name has an id that no other znode's name has. */
export function hasOwnName(name: string): boolean {
  return name.startsWith('_c_');
}

/** Whether the contender may hold a warm lease. It then leaves when another contender queues behind it. */
export function mayBeIdle(name: string): boolean {
  return KEEPER.test(name);
}

/** The number that the parent assigned to a contender. `undefined` for a name that is not a contender's. */
export function numberOf(name: string): number | undefined {
  return contenderNameOf(name)?.number;
}

/** Whether any contender but `own` is in its wait queue. */
export function hasOthers(own: string, names: readonly string[]): boolean {
  return contenderNamesIn(queueKindOf(own), names).some(({ name }) => name !== own);
}

/** Less than 0 when `a` is before `b`. 0 when nothing can be said about their order. */
export function compareContenderNames(a: ContenderName, b: ContenderName): number {
  // The difference and not the numbers: the counter is 32 bits wide.
  return (a.number - b.number) | 0;
}

/** Whether the two cannot hold at once. */
export function excludes(other: ContenderName, me: ContenderName): boolean {
  return me.kind !== 'read' || other.kind !== 'read';
}
