import { check, checkFields, describe } from './check.js';
import { LockConfigurationError } from './errors.js';

/** Leaves a record as it is. */
export const UNCHANGED: unique symbol = Symbol('unchanged');

/** A small value that outlives sessions, beside the locks. */
export interface StoredRecord {
  readonly name: string;
  readonly value: string;
  /** Grows with every write, from 0 on; may begin again when the record was removed and made anew. */
  readonly version: number;
  /** When it was written last, on the backend's clock and no application's. */
  readonly writtenAt: Date;
}

/** What is to become of one record. */
export interface RecordChange {
  readonly name: string;
  /** `undefined` removes the record; `UNCHANGED` with `ifVersion` only makes the other changes depend on it. */
  readonly value: string | undefined | typeof UNCHANGED;
  /** Only when the record is in this version, or not there; without it, whatever it is now. */
  readonly ifVersion?: number | 'absent';
}

/**
 * What became of a write: all of it was applied, and `records` are those that it wrote; or nothing, because the record
 * `conflict` was not as expected.
 */
export type RecordWrite =
  | { readonly isApplied: true; readonly records: readonly StoredRecord[] }
  | { readonly isApplied: false; readonly conflict: string };

/**
 * Small records beside the locks, for what must survive the holder of a lock: the last tick of a job, the number of
 * segments of a key, a stock. Names are made as keys are, and lie apart from them. Values of up to 64 kB,
 * and 512 kB of names and values a write.
 */
export interface RecordStore {
  /**
   * The record as it is, or was a moment ago; never older than the last grant or write of this backend: who reads under a
   * lease sees everything that was written before the lease was granted. `undefined` when there is none.
   * @throws LockUnavailableError, LockConfigurationError
   */
  read(name: string): Promise<StoredRecord | undefined>;
  /** The records of these names, in their order, as all of them were at one moment during the call. @throws as `read` */
  readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]>;
  /** The last segments of the names right below this one, of records and of what leads to records; in no order. */
  list(name: string): Promise<readonly string[]>;
  /**
   * All changes or none. Resolves with what is known to have happened: a lost reply is found out about.
   * @throws LockUnavailableError also when that can not be known, because others have written the same records, or beside
   *   them, since; LockConfigurationError
   */
  write(changes: readonly RecordChange[]): Promise<RecordWrite>;
}

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
