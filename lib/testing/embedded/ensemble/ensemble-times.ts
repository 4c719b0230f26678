/** Each draws a number of milliseconds. */
export interface EnsembleTimes {
  /** `undefined` while messages take no time at all. */
  readonly peerDelayMs: (() => number) | undefined;
  readonly electionMs: () => number;
  readonly syncLimitMs: () => number;
}
