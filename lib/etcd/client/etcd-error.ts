import { LockConfigurationError, LockUnavailableError } from '../../contract/errors.js';

/** Codes of gRPC for faults that the client finds itself. */
export const CODES = { deadline: 4, internal: 13, unavailable: 14 } as const;

/** A call has failed. */
export class CallError extends Error {
  constructor(
    /** The code of gRPC. */
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'CallError';
  }
}

/** The connection was lost, or given up, before the answer came. The request may have been carried out. */
export class LinkLostError extends Error {
  constructor(why: string, cause?: unknown) {
    super(`the connection to etcd is lost: ${why}`, { cause });
    this.name = 'LinkLostError';
  }
}

/** The names of the codes of gRPC that are refusals. After any other code, it is not known what has happened. */
const REFUSALS = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  11: 'OUT_OF_RANGE',
  12: 'UNIMPLEMENTED',
  16: 'UNAUTHENTICATED',
} as const;

type RefusalCode = (typeof REFUSALS)[keyof typeof REFUSALS];

/** The server refused a request. It was not carried out. */
export class RefusedError extends Error {
  constructor(
    readonly code: RefusalCode,
    message: string,
  ) {
    super(message);
    this.name = 'RefusedError';
  }

  /** Whether the token has to be renewed: it has ended, or users and roles were changed. */
  get isOldToken(): boolean {
    return /invalid auth token|revision of auth store is old/.test(this.message);
  }

  /** Whether the lease has ended. */
  get isLeaseGone(): boolean {
    return this.message.includes('requested lease not found');
  }

  /** Whether a server that is behind the others was asked. */
  get isFuture(): boolean {
    return this.message.includes('is a future revision');
  }

  /** Whether the server no longer has what it was asked for. */
  get isCompacted(): boolean {
    return this.message.includes('has been compacted');
  }
}

/** Returns the refusal that an error of a call is. `undefined` for faults of the connection, and of the servers. */
export function refusalOf(error: unknown): RefusedError | undefined {
  if (!(error instanceof CallError)) return undefined;
  const name = REFUSALS[error.code as keyof typeof REFUSALS] as RefusalCode | undefined;
  return name && new RefusedError(name, error.message || name);
}

const CHECK_RIGHTS = 'check the user, the password and the role, see docs/etcd.md';

/** Refusals that only a change of the settings ends, by their message, and the change. */
const SETTINGS: readonly (readonly [RegExp, string])[] = [
  [/permission denied|authentication failed|user name is empty|invalid auth token/, CHECK_RIGHTS],
  [/authentication is not enabled/, 'leave out the user and the password, or enable authentication'],
  [/too many operations/, 'raise --max-txn-ops of the servers to 128, or use fewer keys at once'],
  [/request is too large/, 'raise --max-request-bytes of the servers, or write less at once'],
  [/unknown (service|method)/, 'etcd() needs etcd 3.4 or later'],
];

/** Refusals of servers that may serve later. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /database space exceeded/,
    'its database is full: compact and defragment it, then disarm the alarm, see docs/etcd.md',
  ],
  [/too many requests/, 'it has too much to do'],
];

/** Converts the error of a request into one that says what the caller should do. Others are returned unchanged. */
export function explained(error: unknown, key?: string): unknown {
  const about = key === undefined ? '' : `"${key}": `;
  const details = { key, cause: error };
  if (error instanceof LinkLostError) return new LockUnavailableError(`${about}${error.message}`, details);
  if (!(error instanceof RefusedError)) return error;
  const refused = `${about}etcd refused: ${error.message}`;
  const find = (among: typeof SETTINGS) => among.find(([pattern]) => pattern.test(error.message))?.[1];
  const setting = find(SETTINGS);
  if (setting !== undefined) return new LockConfigurationError(`${refused}; ${setting}`, details);
  const hint = find(HINTS);
  return new LockUnavailableError(hint === undefined ? refused : `${refused}; ${hint}`, details);
}

/** Whether an error is a refusal that leaves open whether the change was applied: of a server whose database is full. */
export function isUndecided(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.message.includes('database space exceeded');
}
