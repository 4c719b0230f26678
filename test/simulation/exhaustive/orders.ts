/** One acquisition of a caller. A `pause` waits for as long as a holder works. */
export interface Step {
  readonly lock: 'mutex' | 'try' | 'read' | 'write' | 'downgrade' | 'set' | 'atomic set' | 'permit' | 'pause';
  readonly keys: readonly string[];
}

/** The orders of one process in a small scenario. */
export interface ContenderOrders {
  readonly connectString: string;
  readonly sessionTimeoutMs: number;
  readonly localLine: boolean;
  /** The duration of a holder's work. */
  readonly workMs: number;
  /** The steps of each caller of the process, one after the other. */
  readonly callers: readonly (readonly Step[])[];
}

export type HoldMode = 'exclusive' | 'read';

/** An entry that a contender records at once. */
export type HoldEntry =
  | {
      readonly what: 'held';
      readonly hold: string;
      readonly key: string;
      readonly mode: HoldMode;
      readonly token: string;
    }
  /** An action that only a holder may do. */
  | { readonly what: 'acts'; readonly hold: string }
  /** The end of a hold, recorded before the release. */
  | { readonly what: 'ends'; readonly hold: string; readonly why: string }
  | { readonly what: 'refused'; readonly call: string; readonly error: string };
