/** The connection that speaks for a session. */
export interface SessionConnection {
  /** Ends it: `fin` once everything is sent, `rst` as if the server had died. */
  close(how?: 'fin' | 'rst'): void;
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
