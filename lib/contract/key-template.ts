import { check, describe } from './check.js';
import { LockConfigurationError } from './errors.js';
import { checkKey } from './key.js';

/** What a value of a key may be. A number and its text make the same key. */
export type KeyValue = string | number | bigint | boolean;

// The percent sign as well: it begins what takes the place of the others. The number sign begins names of this package's own.
const NOT_PLAIN = /[%#/\u0000-\u001f\u007f-\u009f]/g;

/**
 * Makes a key of a template: ``key`order/${dto.id}` ``. Each value is part of one segment, whatever it contains: slashes,
 * percent and number signs and control characters in it are written as `%2F` and the like, and so are the values `.` and `..`.
 *
 * Two different lists of values never make the same key of one template. Where a segment has several values, the character
 * that follows one of them is escaped in it: ``key`${'a-b'}-${'c'}` `` is `a%2Db-c`.
 * @throws LockConfigurationError for `undefined`, `null`, `''`, `NaN`, `Infinity`, objects and functions, naming the place;
 *   for two values of one segment with nothing between them; for what `LockService` refuses as a key
 */
export function key(template: TemplateStringsArray, ...values: readonly KeyValue[]): string {
  const ends = endsOf(template);
  let made = template[0] ?? '';
  for (let index = 0; index < ends.length; index++) {
    made += partOf(textOf(template, index, values[index]), ends[index]) + template[index + 1];
  }
  return made;
}

/** The text as one segment of a key or name, or as a part of one; `decodeURIComponent` gives it back. */
export function escapedSegment(text: string): string {
  return text === '.' || text === '..' ? text.replaceAll('.', '%2E') : text.replace(NOT_PLAIN, percentEncoded);
}

/** By template: the character at which each value ends, where another one follows in the same segment. */
const knownEnds = new WeakMap<TemplateStringsArray, readonly (string | undefined)[]>();

/** @throws LockConfigurationError for a template that makes no key, whatever the values are */
function endsOf(template: TemplateStringsArray): readonly (string | undefined)[] {
  const known = knownEnds.get(template);
  if (known) return known;
  check(isTemplate(template), 'key', template, 'used as the tag of a template, as in key`order/${id}`');
  checkKey(template.join('x'), nameOf(template));
  const ends = template.slice(1).map((next, index) => {
    const isLastOfSegment = index + 2 === template.length || next.includes('/');
    return isLastOfSegment ? undefined : endOf(template, index, next);
  });
  knownEnds.set(template, ends);
  return ends;
}

function endOf(template: TemplateStringsArray, index: number, next: string): string {
  const [end] = next;
  if (end !== undefined && end !== '%') return end;
  const fault = end === undefined ? 'has nothing' : 'has a "%"';
  throw badValue(template, index, `${fault} between it and the next value: put a "/" or a "-" there`);
}

function textOf(template: TemplateStringsArray, index: number, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.isWellFormed()) return value;
  if (Number.isFinite(value) || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  const isBroken = typeof value === 'string' && value !== '';
  const got = isBroken ? 'a string with half of a surrogate pair' : describe(value);
  const expected = 'a string that is not empty, a finite number, a bigint or a boolean';
  throw badValue(template, index, `must be ${expected}, got ${got}`);
}

function partOf(text: string, end: string | undefined): string {
  if (end === undefined || !text.includes(end)) return escapedSegment(text);
  return text.split(end).map(escapedSegment).join(percentEncoded(end));
}

function badValue(template: TemplateStringsArray, index: number, why: string): LockConfigurationError {
  const place = template[index] ? `after ${JSON.stringify(template[index])}` : 'with no text before it';
  return new LockConfigurationError(`${nameOf(template)}: value ${index + 1}, ${place}, ${why}`);
}

function nameOf(template: TemplateStringsArray): string {
  return `key\`${template.join('${…}')}\``;
}

function isTemplate(template: unknown): boolean {
  return Array.isArray(template) && 'raw' in template && template.every((text) => typeof text === 'string');
}

function percentEncoded(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&');
}
