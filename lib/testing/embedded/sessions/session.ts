/** The connection that a session uses. */
export interface SessionConnection {
  /** Detaches the session from the connection, and ends the connection once everything is sent. */
  close(): void;
}

/** One client's session. It outlives its connections, and expires `timeoutMs` after its client's last message. */
export interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  /** The first granted timeout, from which a new leader starts. */
  readonly firstTimeoutMs: number;
  /** The timeout that its client was granted last. */
  timeoutMs: number;
  /** The time of the last sign of life that reached the leader, on the server's clock. */
  touchedMs: number;
  /** The time at which it expires without another sign of life, on the server's clock. */
  deadlineMs: number;
  isOpen: boolean;
  /**
   * Whether the leader has given it up, and the servers have yet to agree. Further messages of its client do not keep
   * it alive.
   */
  isEnding: boolean;
  /** The server through which its client has last connected. The leader accepts nothing for it from another server. */
  owner: object | undefined;
  connection: SessionConnection | undefined;
}
