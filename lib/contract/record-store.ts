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
