/** What one caller takes, once; or it waits for as long as somebody holds a key. */
export interface Step {
  readonly lock: 'mutex' | 'try' | 'read' | 'write' | 'downgrade' | 'set' | 'atomic set' | 'permit' | 'pause';
  readonly keys: readonly string[];
}

/** What one process of a small scenario is told. */
export interface ContenderOrders {
  readonly connectString: string;
  readonly sessionTimeoutMs: number;
  readonly localLine: boolean;
  /** How long a holder works. */
  readonly workMs: number;
  /** What each caller of the process takes, one after the other. */
  readonly callers: readonly (readonly Step[])[];
}

export type HoldMode = 'exclusive' | 'read';

/** What a contender says of itself, at once. */
export type HoldEntry =
  | {
      readonly what: 'held';
      readonly hold: string;
      readonly key: string;
      readonly mode: HoldMode;
      readonly token: string;
    }
  /** What only a holder may do. */
  | { readonly what: 'acts'; readonly hold: string }
  /** It believes no more, from before the release on. */
  | { readonly what: 'ends'; readonly hold: string; readonly why: string }
  | { readonly what: 'refused'; readonly call: string; readonly error: string };
