import { ErrorCode, errorName } from '../wire/error-codes.js';

const LOSSES: readonly number[] = [ErrorCode.connectionLoss, ErrorCode.sessionExpired, ErrorCode.sessionMoved];

/** ZooKeeper's answer to one request, or the reason why there was none. */
export class KeeperError extends Error {
  constructor(
    /** ZooKeeper's numeric code. */
    readonly code: number,
    /** The znode that was asked about. */
    readonly path?: string,
  ) {
    // It is made where answers are read, for whoever asked: that place tells nobody anything, and to note it down is dear.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`ZooKeeper: ${errorName(code)}${path === undefined ? '' : ` at ${path}`}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'KeeperError';
  }

  /** The connection or the session ended before an answer came: the request may or may not have been applied. */
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

/** A refusal that says nothing about the next attempt. */
export function isPassing(error: unknown): boolean {
  return error instanceof KeeperError && PASSING.includes(error.code);
}

/** What servers take in one request unless they are told otherwise (`jute.maxbuffer`). */
export const MOST_BYTES = 1_048_575;

/**
 * A request that was not sent. One that is too large is never answered: the servers end the connection, and what is asked
 * again over the next one ends that, with all that others do on it.
 */
export class RequestTooLargeError extends Error {
  constructor(
    /** What the request would have. */
    readonly bytes: number,
  ) {
    super(`the request has ${bytes} bytes, and servers take ${MOST_BYTES}; ask for less at once`);
    this.name = 'RequestTooLargeError';
  }
}
