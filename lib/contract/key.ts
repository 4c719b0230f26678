import { check, describe } from './check.js';
import { LockConfigurationError } from './errors.js';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;
const LONE_SURROGATE = /\p{Cs}/u;
// The texts that String() and template literals produce for a missing value, or for a value that is not text.
const MISSING_VALUE = /(?:^|\/)(?:undefined|null|NaN|\[object Object\])(?:\/|$)/;

/**
 * Checks the rules of all backends for a key: segments between slashes, none of them empty, `.` or `..`.
 * @param field name of the key in messages
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function checkKey(key: unknown, field = 'key'): asserts key is string {
  const fault = faultOf(key);
  if (fault !== undefined) throw badKey(key, fault, field);
}

/** Returns the error for a key that cannot be used. */
export function badKey(key: unknown, why: string, field = 'key'): LockConfigurationError {
  return new LockConfigurationError(`${field} ${why}, got ${describe(key)}`, {
    key: typeof key === 'string' ? key : undefined,
  });
}

/** Whether a segment of the key is the text of a missing value. Such a key was probably composed without the value. */
export function hasMissingValue(key: string): boolean {
  return MISSING_VALUE.test(key);
}

function faultOf(key: unknown): string | undefined {
  if (typeof key !== 'string' || key === '') return 'must be a string that is not empty';
  if (CONTROL.test(key)) return 'has a control character';
  if (LONE_SURROGATE.test(key)) return 'has half of a surrogate pair';
  const segments = (key.startsWith('/') ? key.slice(1) : key).split('/');
  if (segments.includes('')) return 'has an empty segment (a slash too many)';
  const dots = segments.find((segment) => segment === '.' || segment === '..');
  return dots === undefined ? undefined : `has the segment "${dots}"`;
}

/** The allowed types of a value in a key. A number and its text make the same key. */
export type KeyValue = string | number | bigint | boolean;

// The percent sign is included because it begins the escape sequences. The number sign begins names that this package
// reserves.
const NOT_PLAIN = /[%#/\u0000-\u001f\u007f-\u009f]/g;

/**
 * Builds a key from a template: ``key`order/${dto.id}` ``. Each value is part of one segment, whatever it contains.
 * Slashes, percent signs, number signs and control characters in it are written as `%2F` and the like. So are the
 * values `.` and `..`.
 *
 * Two different lists of values never make the same key from one template. Where a segment has several values, the
 * character that follows a value is escaped in that value: ``key`${'a-b'}-${'c'}` `` is `a%2Db-c`.
 * @throws LockConfigurationError that names the place, for `undefined`, `null`, `''`, `NaN`, `Infinity`, objects and
 *   functions; for two values of one segment with nothing between them; for every key that `LockService` rejects
 */
export function key(template: TemplateStringsArray, ...values: readonly KeyValue[]): string {
  const ends = endsOf(template);
  let made = template[0] ?? '';
  for (let index = 0; index < ends.length; index++) {
    made += partOf(textOf(template, index, values[index]), ends[index]) + template[index + 1];
  }
  return made;
}

/** Returns the text as one segment of a key or name, or as a part of one. `decodeURIComponent` reverses it. */
export function escapedSegment(text: string): string {
  return text === '.' || text === '..' ? text.replaceAll('.', '%2E') : text.replace(NOT_PLAIN, percentEncoded);
}

/** By template: the character that ends each value. `undefined` for the last value of a segment. */
const knownEnds = new WeakMap<TemplateStringsArray, readonly (string | undefined)[]>();

/** @throws LockConfigurationError for a template that yields no valid key, whatever the values are */
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
