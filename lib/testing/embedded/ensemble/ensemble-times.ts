/** Functions that draw a number of milliseconds. */
export interface EnsembleTimes {
  /** `undefined` when messages take no time at all. */
  readonly peerDelayMs: (() => number) | undefined;
  readonly electionMs: () => number;
  readonly syncLimitMs: () => number;
}
