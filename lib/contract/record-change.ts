import { check, checkFields, describe } from './check.js';
import { LockConfigurationError } from './errors.js';
import { UNCHANGED } from './record-store.js';
import type { RecordChange } from './record-store.js';

/** The largest value, in bytes of UTF-8. */
export const LARGEST_VALUE_BYTES = 64 * 1_024;
/** What all names and values of one write may add up to: servers cut off who sends more than a megabyte at once. */
export const LARGEST_WRITE_BYTES = 512 * 1_024;

const FIELDS = ['name', 'value', 'ifVersion'];

/** What every store refuses before it does anything. @throws LockConfigurationError that names the record */
export function checkChanges(changes: readonly RecordChange[]): void {
  check(Array.isArray(changes), 'changes', changes, 'an array');
  changes.forEach(checkChange);
  const names = new Set<string>();
  for (const { name } of changes) {
    if (names.has(name)) throw new LockConfigurationError(`the record ${describe(name)} is named twice in one write`);
    names.add(name);
  }
  const bytes = changes.reduce((sum, change) => sum + bytesOf(change.name) + bytesOf(change.value), 0);
  check(bytes <= LARGEST_WRITE_BYTES, 'changes', changes, `at most ${LARGEST_WRITE_BYTES} bytes, they have ${bytes}`);
}

function checkChange(change: RecordChange): void {
  checkFields('record change', change, FIELDS);
  const { name, value, ifVersion } = change;
  check(typeof name === 'string' && name !== '', 'name', name, 'a string that is not empty');
  const isValue = value === undefined || value === UNCHANGED || typeof value === 'string';
  check(isValue, `value of ${describe(name)}`, value, 'a string, undefined or UNCHANGED');
  const bytes = bytesOf(value);
  check(bytes <= LARGEST_VALUE_BYTES, `value of ${describe(name)}`, value, `at most ${LARGEST_VALUE_BYTES} bytes`);
  const isVersion =
    ifVersion === undefined || ifVersion === 'absent' || (Number.isInteger(ifVersion) && ifVersion >= 0);
  check(isVersion, `ifVersion of ${describe(name)}`, ifVersion, "a version, 'absent' or undefined");
}

function bytesOf(text: unknown): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : 0;
}
