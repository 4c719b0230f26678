/** The session of a request is over, so that the request has no effect any more. It may begin again on the next one. */
export class SessionEndedError extends Error {
  constructor(why: string) {
    super(`the session is over: ${why}`);
    this.name = 'SessionEndedError';
  }
}
