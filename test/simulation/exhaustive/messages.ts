import type { Bounds } from './choices.js';
import type { SmallCode, SmallExamined } from './examine.js';

/** What a process that explores is told. */
export interface ExploreOrder {
  readonly code: SmallCode;
  readonly scenario: string;
  readonly bounds: Bounds;
  /** Whether the first finding is enough. */
  readonly untilFound: boolean;
}

/** What it says. */
export type ExploreReport =
  | { readonly report: 'examined'; readonly examined: SmallExamined }
  | { readonly report: 'failed'; readonly error: string };
