import type { SessionEnd } from '../client/zookeeper-client.js';

/** The session that a request or a wait belonged to is over, and its znodes go with it. */
export class SessionEndedError extends Error {
  constructor(readonly why: SessionEnd) {
    super(`the ZooKeeper session is over: ${why}`);
    this.name = 'SessionEndedError';
  }
}
