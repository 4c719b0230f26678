/**
 * Parses the name of a sequential znode: which recipe created it, and the sequence number that its parent assigned.
 * Pure.
 *
 * This file is below the recipes because the path of a key must not have a segment that a recipe would parse.
 */

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
const MARKS = [...Object.values(CONTENDER_MARKS), PERMIT_MARK, ...KAZOO_MARKS] as const;

// `%010d` of an int32: a minus sign counts as one of the ten places. Negative numbers of ten digits need eleven.
const PLACES = 10;
const MOST_PLACES = 11;
const [MINUS, ZERO, NINE] = [45, 48, 57];

// The mark of an item is at the beginning of its name.
const ITEM = /^queue-(\d{10}|-\d{9,10})$/;

/** A mark, and the sequence number behind it. */
export interface MarkedNumber<M extends string> {
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
  return beginningAt(name, name.length - PLACES, marks) ?? beginningAt(name, name.length - MOST_PLACES, marks);
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

function percentEncoded(ascii: number): string {
  return `%${ascii.toString(16).toUpperCase()}`;
}

function beginningAt<M extends string>(name: string, begin: number, marks: readonly M[]): MarkedNumber<M> | undefined {
  const mark = marks.find((one) => name.endsWith(one, begin));
  if (mark === undefined || begin < 0) return undefined;
  const number = numberAt(name, begin);
  return number === undefined ? undefined : { mark, number, begin };
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
