/** The connection that speaks for a session. */
export interface SessionConnection {
  /** Takes the session from it, and ends it once everything is sent. */
  close(): void;
}

/** One client's session. It outlives its connections, and ends by itself after `timeoutMs` without a word. */
export interface Session {
  readonly id: bigint;
  readonly password: Buffer;
  timeoutMs: number;
  /** On the server's clock. */
  deadlineMs: number;
  isOpen: boolean;
  connection: SessionConnection | undefined;
}
