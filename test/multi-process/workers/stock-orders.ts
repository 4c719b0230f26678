/** The orders of a process that buys from a stock. */
export interface StockOrders {
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  readonly segments: number;
  /** The names of the buyers of this process. */
  readonly buyers: readonly string[];
  /** The file in which the buyers record the outcomes of their orders. It outlives the process. */
  readonly journal: string;
  /** A directory with a `FileLedger`; without it the built-in store is used. */
  readonly ledger?: string;
  /**
   * `'unlocked'` plants a lock that grants every request at once. `'unconditional'` plants a store of records that
   * writes without checking versions. `'split'` kills the process when it has taken the second part of an order.
   */
  readonly planted?: 'unlocked' | 'unconditional' | 'split';
}

/** The outcome of one order, as reported to its buyer. */
export interface Told {
  readonly orderId: string;
  readonly quantity: number;
  readonly isSold: boolean;
}
