/** A server, or several that are one service, on 127.0.0.1. */
export interface Server {
  /** `host:port`, or several of them with commas. */
  readonly address: string;
  /** The counts, or `undefined` for a server that does not count. */
  counts(): Promise<Counts> | undefined;
  stop(): Promise<void>;
}

/** The messages that clients have sent and received so far. */
export interface Packets {
  readonly received: number;
  readonly sent: number;
}

export interface Counts extends Packets {
  /** Znodes that are deleted with their session. */
  readonly ephemerals: number;
}
