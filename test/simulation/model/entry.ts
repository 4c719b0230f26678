import type { JournalEntry } from '../../robustness/model/journal-entry.js';
import type { Mode } from '../../robustness/model/history.js';
import type { Answer, Call } from './call.js';

/** One entry that a process records about itself. Plain JSON data; tokens are text. */
export type Entry =
  | JournalEntry
  /** A call begins. A call that never returns may or may not have been made. */
  | { readonly what: 'call'; readonly id: string; readonly at: number; readonly call: Call; readonly waitMs?: number }
  | { readonly what: 'return'; readonly id: string; readonly at: number; readonly answer: Answer }
  /** A write arrives at the storage that is guarded by tokens. */
  | {
      readonly what: 'write';
      readonly hold: string;
      readonly at: number;
      readonly key: string;
      readonly mode: Mode;
      readonly token: string;
    }
  /** A job begins to run. */
  | {
      readonly what: 'run';
      readonly id: string;
      readonly at: number;
      readonly job: string;
      readonly tick: number;
      readonly attempt: number;
      readonly token: string;
    }
  | { readonly what: 'ran'; readonly id: string; readonly at: number }
  /** A lease was handed out after its time was over. */
  | { readonly what: 'over at once'; readonly at: number; readonly key: string }
  /** An error that no promise mentions. */
  | { readonly what: 'fault of the traffic'; readonly at: number; readonly text: string };

/** An entry and its process. Entries are in the order in which all processes recorded them. */
export interface Recorded {
  readonly process: string;
  readonly entry: Entry;
}
