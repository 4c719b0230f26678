import { LockConfigurationError, LockUnavailableError } from '../../contract/errors.js';

/** The connection was lost, or given up, before the reply came. The request may have been carried out. */
export class LinkLostError extends Error {
  constructor(why: string, cause?: unknown) {
    super(`the connection to Redis is lost: ${why}`, { cause });
    this.name = 'LinkLostError';
  }
}

/** The answer of an earlier connection is lost, and nothing shows what it was. */
export class AnswerLostError extends Error {
  constructor() {
    super('the answer was lost with the connection to Redis');
    this.name = 'AnswerLostError';
  }
}

/** The server refused a request. It was not carried out, or is safe to run again. */
export class RefusedError extends Error {
  constructor(
    /** The first word of the server's answer, such as `READONLY`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'RefusedError';
  }
}

const CHECK_RIGHTS = 'check the user, the password and the rights, see docs/redis.md';
const PRIMARY = 'give the address of the primary, or `sentinels`';

/** Refusals that only a change of the settings ends, and the change. */
const SETTINGS: Readonly<Record<string, string>> = {
  NOAUTH: CHECK_RIGHTS,
  WRONGPASS: CHECK_RIGHTS,
  NOPERM: CHECK_RIGHTS,
  READONLY: PRIMARY,
  MOVED: 'the server belongs to a cluster: use the option `cluster`',
  ASK: 'the server belongs to a cluster: use the option `cluster`',
  CROSSSLOT: 'the server belongs to a cluster: use the option `cluster`',
};

/** Refusals of a server that may serve later. The connection remains. */
const HINTS: Readonly<Record<string, string>> = {
  LOADING: 'it is loading its data',
  BUSY: 'it is busy with a script of another client',
  OOM: 'it has no memory left, see maxmemory',
  NOREPLICAS: 'it has too few replicas, see min-replicas-to-write',
  MISCONF: 'it cannot save its data',
  CLUSTERDOWN: 'the cluster has no majority',
  TRYAGAIN: 'the keys of the shard are being moved to another node',
  MASTERDOWN: 'it has lost its primary',
};

/** Refusals of a server that does not serve the key, or cannot write. A node of a cluster may have been cut off. */
const WRONG_SERVER: readonly string[] = ['READONLY', 'MASTERDOWN', 'MOVED', 'ASK', 'CLUSTERDOWN', 'UNKILLABLE'];

/** Returns the error of a reply. Errors of the connection are returned unchanged. */
export function refusalOf(error: unknown): unknown {
  const isReply = error instanceof Error && error.name === 'ReplyError';
  if (!isReply) return error;
  // An error inside a script is quoted in an error of the script.
  const [, code = 'ERR'] =
    /^(?:ERR Error running script.*?: )?-?@?(?:user_script: ?)?([A-Z]+)\b/.exec(error.message) ?? [];
  const isRight = /can't run this command|No permissions|can't access/i.test(error.message);
  return new RefusedError(isRight ? 'NOPERM' : code, error.message);
}

/** Whether this server cannot serve writes, so that another connection has to be made. */
export function isWrongServer(error: unknown): boolean {
  return error instanceof RefusedError && WRONG_SERVER.includes(error.code);
}

/** Whether keys are being moved from one node of a cluster to another, so that the same request may succeed soon. */
export function isMoving(error: unknown): boolean {
  return error instanceof RefusedError && error.code === 'TRYAGAIN';
}

/** Converts the error of a request into one that says what the caller should do. Others are returned unchanged. */
export function explained(error: unknown, key?: string): unknown {
  const about = key === undefined ? '' : `"${key}": `;
  const details = { key, cause: error };
  if (error instanceof LinkLostError || error instanceof AnswerLostError)
    return new LockUnavailableError(`${about}${error.message}`, details);
  if (!(error instanceof RefusedError)) return error;
  const setting = SETTINGS[error.code];
  const refused = `${about}the Redis server refused: ${error.message}`;
  if (setting !== undefined) return new LockConfigurationError(`${refused}; ${setting}`, details);
  const hint = HINTS[error.code];
  return new LockUnavailableError(hint === undefined ? refused : `${refused}; ${hint}`, details);
}
