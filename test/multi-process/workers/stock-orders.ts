/** What a process that buys from a stock is told. */
export interface StockOrders {
  readonly connectString: string;
  readonly basePath: string;
  readonly sessionTimeoutMs: number;
  readonly segments: number;
  /** The names of the buyers of this process. */
  readonly buyers: readonly string[];
  /** Where they write down what they were told; it outlives the process. */
  readonly journal: string;
  /** A directory with a `FileLedger`; without it the built-in store is used. */
  readonly ledger?: string;
  /**
   * `'unlocked'` plants a lock that everybody gets at once, `'unconditional'` a store of records that writes whatever is
   * there, `'split'` kills the process when it has taken the second part of an order.
   */
  readonly planted?: 'unlocked' | 'unconditional' | 'split';
}

/** What a buyer was told. */
export interface Told {
  readonly orderId: string;
  readonly quantity: number;
  readonly isSold: boolean;
}
