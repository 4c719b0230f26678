/** The connection that speaks for a session. */
export interface SessionConnection {
  /** Takes the session from it, and ends it once everything is sent. */
  close(): void;
}

/** One client's session. It outlives its connections, and ends by itself after `timeoutMs` without a word. */
export interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  /** What it was made with: all that a new leader knows. */
  readonly firstTimeoutMs: number;
  /** What its client was granted last. */
  timeoutMs: number;
  /** When the leader has last heard of it, on the server's clock. */
  touchedMs: number;
  /** When it ends without another word, on the server's clock. */
  deadlineMs: number;
  isOpen: boolean;
  /** The leader has given it up, and the servers have yet to agree. No word of its client helps any more. */
  isEnding: boolean;
  /** The server through which its client has last connected. The leader takes nothing for it from another. */
  owner: object | undefined;
  connection: SessionConnection | undefined;
}
