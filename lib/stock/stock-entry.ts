import type { RecordChange } from '../contract/record-store.js';
import type { Levels } from './stock-plan.js';

/** What one entry comes to, given the levels. */
export type Planned<T> =
  | {
      /** What the levels are then. */
      readonly levels: Levels;
      /** What makes it happen once. */
      readonly change: RecordChange;
      readonly outcome: T;
    }
  | {
      /** Nothing is to be written: it is only asked. Called when the levels were so at one moment during the call. */
      readonly answer: () => T | Promise<T>;
    };

export interface PlanHints {
  /** The segment that this till looks at first. */
  readonly first: number;
  /** How often it was planned before, and others were faster. */
  readonly attempt: number;
}

/** What a till is asked for. */
export interface StockCommand<T> {
  /** Of the record that makes it happen once; no two entries of one transaction may have the same. */
  readonly recordName?: string;
  plan(levels: Levels, hints: PlanHints): Planned<T>;
  /** Its record was not as planned: the outcome that it has already. */
  contested?(): Promise<T>;
}
