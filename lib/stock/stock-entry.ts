import type { RecordChange } from '../contract/record-store.js';
import type { Levels } from './stock-plan.js';

/** The plan of one command, given the levels. */
export type Planned<T> =
  | {
      /** The levels after the command. */
      readonly levels: Levels;
      /** The record change that makes the command happen only once. */
      readonly change: RecordChange;
      readonly outcome: T;
    }
  | {
      /** The answer of a command that writes nothing. Called when the levels were so at one moment during the call. */
      readonly answer: () => T | Promise<T>;
    };

export interface PlanHints {
  /** The segment that this writer tries first. */
  readonly first: number;
  /** The number of earlier attempts that failed because other writers were faster. */
  readonly attempt: number;
}

/** A command for the `StockWriter`. */
export interface StockCommand<T> {
  /**
   * The name of the record that makes the command happen only once. No two commands of one transaction may share it.
   */
  readonly recordName?: string;
  plan(levels: Levels, hints: PlanHints): Planned<T>;
  /** Called when the command's record was not as planned. Returns the outcome that the command already has. */
  contested?(): Promise<T>;
}
