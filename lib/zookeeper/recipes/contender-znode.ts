/**
 * Parsing and building of what a contender's znode says: its name, with the recipe that created it and the number that
 * its parent assigned, and its data, which describes its owner.
 *
 * A contender's name ends in its kind and its number: `_c_<uuid>-lock-0000000007`, `…__WRIT__0000000008`,
 * `…__READ__0000000009`, `…-latch-0000000010`, as Apache Curator writes them. Order is by the number alone. A wait queue
 * is of locks or of candidates. Contenders of the other kind, and any other names under the path, are not its contenders
 * and block none.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ContenderOwner } from '../../contract/contender.js';

/** The marks before the sequence number of a contender in a wait queue, as Curator writes them. */
export const CONTENDER_MARKS = { lock: 'lock-', write: '__WRIT__', read: '__READ__', latch: 'latch-' } as const;

/** The mark before the sequence number of a permit. */
export const PERMIT_MARK = 'lease-';

/** The directories of a semaphore, below its path: the wait queue for its permits, the permits, and their number. */
export const SEMAPHORE_PARTS = { gate: 'locks', permits: 'leases', count: 'permits' } as const;

/** The mark before the sequence number of an item of a queue. */
export const ITEM_MARK = 'queue-';

// Marks of kazoo's locks. Our recipes do not parse them, but kazoo would take such a directory for a contender.
const KAZOO_MARKS = ['__lock__', '__rlock__'] as const;
const PARTS: readonly string[] = Object.values(SEMAPHORE_PARTS);
const CONTENDERS = Object.values(CONTENDER_MARKS);
const MARKS = [...CONTENDERS, PERMIT_MARK, ...KAZOO_MARKS] as const;

// `%010d` of an int32: a minus sign counts as one of the ten places. Negative numbers of ten digits need eleven.
const PLACES = 10;
const MOST_PLACES = 11;
const [MINUS, ZERO, NINE] = [45, 48, 57];

// The mark of an item is at the beginning of its name.
const ITEM = /^queue-(\d{10}|-\d{9,10})$/;

/** A mark, and the sequence number behind it. */
interface MarkedNumber<M extends string> {
  readonly mark: M;
  readonly number: number;
  /** The index in the name at which the number begins. */
  readonly begin: number;
}

/**
 * Returns the number at the end of the name if one of the marks is directly before it. It uses no regular expression,
 * because every new contender parses all names of its queue.
 */
export function markedNumber<M extends string>(name: string, marks: readonly M[]): MarkedNumber<M> | undefined {
  for (let begin = name.length - PLACES; begin >= Math.max(0, name.length - MOST_PLACES); begin--) {
    for (const mark of marks) {
      const number = name.endsWith(mark, begin) ? numberAt(name, begin) : undefined;
      if (number !== undefined) return { mark, number, begin };
    }
  }
  return undefined;
}

/** The sequence number of an item of a queue, or `undefined` if the name is not an item's. */
export function itemNumber(name: string): number | undefined {
  const [, number] = ITEM.exec(name) ?? [];
  return number === undefined ? undefined : Number(number);
}

/**
 * The name of a directory below a key, encoded if a semaphore uses that name itself. Only the first letter is encoded.
 */
export function withoutPart(name: string): string {
  return PARTS.includes(name) ? `${percentEncoded(name.charCodeAt(0))}${name.slice(1)}` : name;
}

/**
 * The name in a form that no recipe parses: the last character before the number is percent-encoded. A name that no
 * recipe parses is returned unchanged.
 */
export function withoutMark(name: string): string {
  const begin = ITEM.test(name) ? ITEM_MARK.length : markedNumber(name, MARKS)?.begin;
  if (begin === undefined) return name;
  return `${name.slice(0, begin - 1)}${percentEncoded(name.charCodeAt(begin - 1))}${name.slice(begin)}`;
}

export type ContenderKind = keyof typeof CONTENDER_MARKS;

/** The kinds of wait queues: of contenders for a lock, or of candidates of an election. */
export type QueueKind = 'locks' | 'candidates';

/** A contender's place in its wait queue, parsed from its name. */
export interface ContenderName {
  readonly name: string;
  readonly kind: ContenderKind;
  readonly number: number;
}

const KINDS = {
  [CONTENDER_MARKS.lock]: 'lock',
  [CONTENDER_MARKS.write]: 'write',
  [CONTENDER_MARKS.read]: 'read',
  [CONTENDER_MARKS.latch]: 'latch',
} as const;

/** The name of a reader in the place of a writer. No contender that was created after the writer is before it. */
export function readerInPlaceOf(writer: string): string {
  return `_c_${randomUUID()}-${CONTENDER_MARKS.read}${writer.slice(-PLACES)}`;
}

/** The parsed name of a contender of any wait queue. `undefined` for all other names. */
export function contenderNameOf(name: string): ContenderName | undefined {
  const found = markedNumber(name, CONTENDERS);
  return found && { name, kind: KINDS[found.mark], number: found.number };
}

/** The contenders of this kind of wait queue among the names under its path, in no order. */
export function contenderNamesIn(queue: QueueKind, names: readonly string[]): ContenderName[] {
  const contenders: ContenderName[] = [];
  for (const name of names) {
    const contender = contenderNameOf(name);
    if (contender && queueOf(contender.kind) === queue) contenders.push(contender);
  }
  return contenders;
}

/** The kind of wait queue that contenders of this kind are in. */
export function queueOf(kind: ContenderKind | undefined): QueueKind {
  return kind === 'latch' ? 'candidates' : 'locks';
}

// The version of a UUID that is free for custom meanings.
const KEEPER = /^_c_[0-9a-f]{8}-[0-9a-f]{4}-8/;

/** An id for a contender's name. The id of a contender that may hold a warm lease can be told from others. */
export function contenderNameId(keeps = false): string {
  const id = randomUUID();
  return keeps ? `${id.slice(0, 14)}8${id.slice(15)}` : id;
}

/** Whether the contender may hold a warm lease. It then leaves when another contender queues behind it. */
export function mayBeIdle(name: string): boolean {
  return KEEPER.test(name);
}

/** The number of creates after which the numbers of a directory are nearly used up. */
export const MOST_CREATES = 2 ** 31 - 2 ** 20;

/** Whether a directory that assigns such numbers must be created again, see `counter.ts`. */
export function isNearTheEnd(number: number | undefined): boolean {
  return number !== undefined && (number > MOST_CREATES || number < 0);
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

function percentEncoded(ascii: number): string {
  return `%${ascii.toString(16).toUpperCase()}`;
}

function numberAt(name: string, begin: number): number | undefined {
  const isNegative = name.charCodeAt(begin) === MINUS;
  if (!isNegative && name.length - begin > PLACES) return undefined;
  let number = 0;
  for (let at = isNegative ? begin + 1 : begin; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < ZERO || code > NINE) return undefined;
    number = number * 10 + code - ZERO;
  }
  return isNegative ? -number : number;
}

// Read once: it is a call of the operating system.
export const HOST = hostname();
const NAMELESS = Buffer.from(JSON.stringify({ host: HOST, pid: process.pid }));

// Curator's Revoker writes this in place of a holder's data. Curator's revocable locks look for it.
const REVOKE = Buffer.from('__REVOKE__');

/** The data of a contender's znode, which describes its owner. */
export function contenderData(label?: string, id?: string, isKept?: true): Buffer {
  if (label === undefined && id === undefined && !isKept) return NAMELESS;
  return Buffer.from(JSON.stringify({ host: HOST, pid: process.pid, label, id, isKept }));
}

/** The owner that the data describes, as far as it does. */
export function contenderOwner(data: Buffer): ContenderOwner & { readonly isKept: boolean } {
  const { host, pid, label, isKept } = fieldsOf(data);
  return {
    host: typeof host === 'string' ? host : undefined,
    pid: typeof pid === 'number' ? pid : undefined,
    label: typeof label === 'string' ? label : undefined,
    isKept: isKept === true,
  };
}

/** The id in the data, for a znode whose name is not unique. Foreign data has none. */
export function contenderId(data: Buffer): unknown {
  return fieldsOf(data)['id'];
}

/**
 * The data that requests revocation from the owner of this data. Curator's holders know one word only. The data of our
 * holders still describes the owner.
 */
export function revokedData(data: Buffer): Buffer {
  const fields = fieldsOf(data);
  const isOurs = typeof fields['host'] === 'string' && typeof fields['pid'] === 'number';
  return isOurs ? Buffer.from(JSON.stringify({ ...fields, isRevoked: true })) : REVOKE;
}

/** Whether the data requests revocation. */
export function isRevoked(data: Buffer): boolean {
  return data.equals(REVOKE) || fieldsOf(data)['isRevoked'] === true;
}

/** The fields in the data of any kind of znode. Empty when the data is not in our format. */
export function fieldsOf(data: Buffer): Record<string, unknown> {
  try {
    return Object(JSON.parse(data.toString())) as Record<string, unknown>;
  } catch {
    return {};
  }
}
