/** A server, or several that are one service, on 127.0.0.1. */
export interface Server {
  /** `host:port`, or several of them with commas. */
  readonly address: string;
  /** `undefined` where nothing of this is counted. */
  counts(): Promise<Counts> | undefined;
  stop(): Promise<void>;
}

/** What clients have sent and were sent so far. */
export interface Packets {
  readonly received: number;
  readonly sent: number;
}

export interface Counts extends Packets {
  /** Znodes that end with their session. */
  readonly ephemerals: number;
}
