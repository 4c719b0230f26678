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
