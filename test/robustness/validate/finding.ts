/** A violation of a promise, and the records that show it. */
export interface Finding {
  readonly check: string;
  readonly message: string;
  readonly records: readonly unknown[];
}

/** Checks a history for one kind of violation. */
export type Validator<T> = (history: T) => Finding[];
