import type { Bounds } from './choices.js';
import type { SmallCode, SmallExamined } from './examine.js';

/** A message to an exploring process. */
export interface ExploreOrder {
  readonly code: SmallCode;
  readonly scenario: string;
  readonly bounds: Bounds;
  /** Whether the first finding ends the search. */
  readonly untilFound: boolean;
}

/** A message from an exploring process. */
export type ExploreReport =
  | { readonly report: 'examined'; readonly examined: SmallExamined }
  | { readonly report: 'failed'; readonly error: string };
