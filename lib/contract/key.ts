import { describe } from './check.js';
import { LockConfigurationError } from './errors.js';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;
const LONE_SURROGATE = /\p{Cs}/u;
// What String() and template literals make of a value that is missing, or is no text.
const MISSING_VALUE = /(?:^|\/)(?:undefined|null|NaN|\[object Object\])(?:\/|$)/;

/**
 * Checks what every backend asks of a key: segments between slashes, none of them empty, `.` or `..`.
 * @param field what the key is called in messages
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function checkKey(key: unknown, field = 'key'): asserts key is string {
  const fault = faultOf(key);
  if (fault !== undefined) throw badKey(key, fault, field);
}

/** The error for a key that cannot be used. */
export function badKey(key: unknown, why: string, field = 'key'): LockConfigurationError {
  return new LockConfigurationError(`${field} ${why}, got ${describe(key)}`, {
    key: typeof key === 'string' ? key : undefined,
  });
}

/** Whether a segment of the key is the text of a missing value: the key was probably put together without one. */
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
