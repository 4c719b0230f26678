/** Something that a promise rules out, and the records that show it. */
export interface Finding {
  readonly check: string;
  readonly message: string;
  readonly records: readonly unknown[];
}

/** Looks at a history for one kind of broken promise. */
export type Validator<T> = (history: T) => Finding[];
