import { ErrorCode, errorName } from '../wire/codes.js';

const LOSSES: readonly number[] = [ErrorCode.connectionLoss, ErrorCode.sessionExpired, ErrorCode.sessionMoved];

/** ZooKeeper's error reply to one request, or the reason why there was no reply. */
export class KeeperError extends Error {
  constructor(
    /** ZooKeeper's numeric code. */
    readonly code: number,
    /** The path that the request was about. */
    readonly path?: string,
  ) {
    // The error is created where replies are read, not where the request was made. Its stack trace would be useless and
    // costly.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`ZooKeeper: ${errorName(code)}${path === undefined ? '' : ` at ${path}`}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'KeeperError';
  }

  /** Whether the connection or the session ended before a reply. Then the request may or may not have been applied. */
  get isConnectionLoss(): boolean {
    return LOSSES.includes(this.code);
  }
}

export function isKeeperError(error: unknown, code: keyof typeof ErrorCode): error is KeeperError {
  return error instanceof KeeperError && error.code === ErrorCode[code];
}

export function isConnectionLoss(error: unknown): boolean {
  return error instanceof KeeperError && error.isConnectionLoss;
}

const PASSING: readonly number[] = [ErrorCode.systemError, ErrorCode.operationTimeout, ErrorCode.throttled];

/** Whether the error is transient: the same request may succeed at the next attempt. */
export function isPassing(error: unknown): boolean {
  return error instanceof KeeperError && PASSING.includes(error.code);
}

/** The largest request that servers accept by default (`jute.maxbuffer`). */
export const MOST_BYTES = 1_048_575;

/**
 * The error of a request that was not sent because it is too large. The servers would not reply, but close the
 * connection. A retry would close the next one too, with all other requests on it.
 */
export class RequestTooLargeError extends Error {
  constructor(
    /** The size that the request would have. */
    readonly bytes: number,
  ) {
    super(`the request has ${bytes} bytes, and servers take ${MOST_BYTES}; ask for less at once`);
    this.name = 'RequestTooLargeError';
  }
}
