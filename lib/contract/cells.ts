/** A small value that all processes share, as it was at one moment. */
export interface Cell {
  readonly data: Buffer;
  /** Grows with every write, from 0 on; begins again when the cell was removed and made anew. */
  readonly version: number;
  /** Differs whenever something was written in between. */
  readonly revision: bigint;
}

/** What is to become of a cell. */
export interface CellChange {
  /** `undefined` removes it. */
  readonly data: Buffer | undefined;
  /** Only when the cell is in this version, or not there; without it, whatever it is now. */
  readonly ifVersion?: number | 'absent' | undefined;
}

/** `isApplied: false`: the cell was not as the change expected. */
export type CellWrite =
  | { readonly isApplied: false }
  | {
      readonly isApplied: true;
      /** What the change made; `undefined` when others have written since, or it was removed. */
      readonly version: number | undefined;
    };

/**
 * Values by key, with a version each. `name` is what the application calls the key, for errors; default: the key.
 * Every call throws LockUnavailableError, LockConfigurationError and, once aborted, `signal.reason`.
 */
export interface Cells {
  /** The cell, never older than what this backend has written or seen; `undefined` when there is none. */
  read(key: string, signal: AbortSignal, name?: string): Promise<Cell | undefined>;
  /** Resolves with what is known to have happened: a lost reply is found out about. */
  write(key: string, change: CellChange, signal: AbortSignal, name?: string): Promise<CellWrite>;
  /** Resolves with the cell once it is another than `seen`; what came in between is skipped. */
  next(key: string, seen: Cell | undefined, signal: AbortSignal, name?: string): Promise<Cell | undefined>;
}
