import { check, checkFields, describe } from './check.js';
import { LockConfigurationError } from './errors.js';

/** The value that leaves a record as it is. */
export const UNCHANGED: unique symbol = Symbol('unchanged');

/** A small value that outlives sessions, beside the locks. */
export interface StoredRecord {
  /** The name of the record. */
  readonly name: string;
  /** The value of the record. */
  readonly value: string;
  /** Grows with every write, starting at 0. May start again when the record was removed and created anew. */
  readonly version: number;
  /** The time of the last write, by the backend's clock and not an application's. */
  readonly writtenAt: Date;
}

/** One change of a record. */
export interface RecordChange {
  /** The name of the record. */
  readonly name: string;
  /**
   * The new value. `undefined` removes the record. `UNCHANGED` with `ifVersion` only makes the other changes depend on
   * it.
   */
  readonly value: string | undefined | typeof UNCHANGED;
  /**
   * Applies the change only if the record has this version, or does not exist. Without it, the change always applies.
   */
  readonly ifVersion?: number | 'absent';
}

/**
 * The result of a write. Either all of it was applied, and `records` are the written records. Or nothing was applied,
 * because the record `conflict` was not in the expected version.
 */
export type RecordWrite =
  | {
      /** Whether the changes were applied: all of them, or none. */
      readonly isApplied: true;
      /** The records as they were written. */
      readonly records: readonly StoredRecord[];
    }
  | {
      /** Whether the changes were applied: all of them, or none. */
      readonly isApplied: false;
      /** The name of a record that was not in the expected version. */
      readonly conflict: string;
    };

/**
 * Small records beside the locks, for data that must survive the holder of a lock: the last tick of a job, the number
 * of segments of a key, a stock. Names follow the rules of keys, and are separate from them. Values of up to 64 kB, and
 * 512 kB of names and values a write.
 */
export interface RecordStore {
  /** Whether its server answers. Left out by backends whose records are where all locks are: `state` tells then. */
  readonly isReachable?: boolean;
  /** The number of changes that one write may have. More are refused. Without it, only their size is limited. */
  readonly mostChanges?: number;
  /**
   * Returns the record as of a moment ago, or `undefined` when there is none. It is never older than the last grant or
   * write of this backend. So a reader that holds a lease sees everything that was written before the lease was
   * granted.
   * @throws LockUnavailableError, LockConfigurationError
   */
  read(name: string): Promise<StoredRecord | undefined>;
  /** Returns the records of these names, in their order, all as of one moment during the call. @throws as `read` */
  readAll(names: readonly string[]): Promise<readonly (StoredRecord | undefined)[]>;
  /**
   * Returns the last segments of the names directly below this one, in no order. They are names of records or of their
   * ancestors.
   */
  list(name: string): Promise<readonly string[]>;
  /**
   * Applies all changes or none, and once: others may undo them meanwhile, so that their conditions hold again. Resolves
   * with what is known to have happened. If the reply is lost, the result is found out.
   * @throws LockUnavailableError, also when the result cannot be found out, because others have since written the same
   *   records or records beside them; LockConfigurationError
   */
  write(changes: readonly RecordChange[]): Promise<RecordWrite>;
}

/** The maximum size of a value, in bytes of UTF-8. */
export const LARGEST_VALUE_BYTES = 64 * 1_024;
/**
 * The maximum total size of all names and values of one write. Servers close a connection that sends more than a
 * megabyte at once.
 */
export const LARGEST_WRITE_BYTES = 512 * 1_024;

const FIELDS = ['name', 'value', 'ifVersion'];

/** Checks that every store makes before it does anything. @throws LockConfigurationError that names the record */
export function checkChanges(changes: readonly RecordChange[]): void {
  check(Array.isArray(changes), 'changes', changes, 'an array');
  changes.forEach(checkChange);
  const names = new Set<string>();
  for (const { name } of changes) {
    if (names.has(name)) throw new LockConfigurationError(`the record ${describe(name)} is named twice in one write`);
    names.add(name);
  }
  const bytes = writeBytes(changes);
  check(bytes <= LARGEST_WRITE_BYTES, 'changes', changes, `at most ${LARGEST_WRITE_BYTES} bytes, they have ${bytes}`);
}

/** Returns the bytes of all names and values. */
export function writeBytes(changes: readonly RecordChange[]): number {
  return changes.reduce((sum, { name, value }) => sum + bytesOf(name) + bytesOf(value), 0);
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
