/**
 * Whom a contender waits for. Pure: names in, name out.
 *
 * A contender's name ends in its kind and the number that its parent gave it: `_c_<uuid>-lock-0000000007`,
 * `…__WRIT__0000000008`, `…__READ__0000000009`, as Apache Curator writes them. Order is by the number alone. Anything
 * else under the path is not a contender and blocks nobody.
 */
export type ContenderKind = 'lock' | 'write' | 'read';

const MARKS = { lock: 'lock-', write: '__WRIT__', read: '__READ__' } as const;
// `%010d` of an int32: a minus sign counts as one of the ten places.
const NAME = /(lock-|__WRIT__|__READ__)(\d{10}|-\d{9,10})$/;

/** The name of the one znode that contenders without a line race for; before every number that a line gives out. */
export const SINGLE_NODE = `${MARKS.lock}0000000000`;

interface Standing {
  readonly name: string;
  readonly kind: ContenderKind;
  readonly number: number;
}

/** The end of a contender's name, before its number. */
export function markOf(kind: ContenderKind): string {
  return MARKS[kind];
}

/**
 * The nearest contender before `own` that excludes it: `undefined` when there is none, so that it is `own`'s turn.
 * `'gone'` when `own` does not stand in line any more.
 */
export function predecessorOf(own: string, names: readonly string[]): string | 'gone' | undefined {
  const line = names.map(standingOf).filter((standing) => standing !== undefined);
  const me = line.find((standing) => standing.name === own);
  if (!me) return 'gone';
  const ahead = line.filter((other) => other !== me && isBefore(other, me) && excludes(other, me));
  return ahead.reduce<Standing | undefined>(
    (nearest, other) => (nearest && !isBefore(nearest, other) ? nearest : other),
    undefined,
  )?.name;
}

/** The number that the parent gave to a contender; `undefined` for what is none. */
export function numberOf(name: string): number | undefined {
  return standingOf(name)?.number;
}

/** Whether anybody but `own` stands in line. */
export function hasOthers(own: string, names: readonly string[]): boolean {
  return names.some((name) => name !== own && standingOf(name) !== undefined);
}

function standingOf(name: string): Standing | undefined {
  const [, mark, number] = NAME.exec(name) ?? [];
  if (mark === undefined) return undefined;
  const kind = mark === MARKS.lock ? 'lock' : mark === MARKS.write ? 'write' : 'read';
  return { name, kind, number: Number(number) };
}

function isBefore(a: Standing, b: Standing): boolean {
  if (a.name === SINGLE_NODE || b.name === SINGLE_NODE) return a.name === SINGLE_NODE && b.name !== SINGLE_NODE;
  // The difference and not the numbers: the counter is 32 bits wide. Equal numbers say nothing about the order, so each
  // takes the other to be before it and neither goes first.
  return ((a.number - b.number) | 0) <= 0;
}

function excludes(other: Standing, me: Standing): boolean {
  return me.kind !== 'read' || other.kind !== 'read';
}
