import type { ServerAddress } from './connect-string.js';
import type { TlsOptions } from './open-socket.js';

export interface ConnectionOptions {
  readonly servers: readonly ServerAddress[];
  readonly sessionTimeoutMs: number;
  /** What the session shows the servers before anything else. */
  readonly auth: readonly { readonly scheme: string; readonly credentials: string }[];
  readonly tls?: TlsOptions | undefined;
}

const SHORTEST_ATTEMPT_MS = 250;

/** How long one server may take to accept a connection and the session: short enough to try another in time. */
export function attemptMs(sessionTimeoutMs: number): number {
  return Math.max(SHORTEST_ATTEMPT_MS, sessionTimeoutMs / 6);
}
