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
