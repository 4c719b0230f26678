import type { Examined, PlanOfTraffic } from './examine.js';
import type { Code } from './zookeeper-backend.js';

/** A message to a searcher. */
export type Order =
  | { readonly order: 'begin'; readonly code: Code }
  | { readonly order: 'examine'; readonly plan: PlanOfTraffic; readonly keep: boolean };

/** A message from a searcher. */
export type Report =
  | { readonly report: 'ready' }
  | { readonly report: 'examined'; readonly examined: Examined; readonly lines: readonly string[] | undefined }
  /** The simulation itself has failed. */
  | { readonly report: 'failed'; readonly seed: number; readonly error: string };
