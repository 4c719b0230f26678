import type { SessionEnd, ZooKeeperClient } from '../client/zookeeper-client.js';

export { isConnectionLoss, isKeeperError, KeeperError } from '../client/keeper-error.js';
export { RequestTooLargeError } from '../client/keeper-error.js';
export { CreateMode, ErrorCode, refusedAt } from '../client/zookeeper-client.js';
export type {
  Acl,
  CreatedNode,
  MultiOp,
  MultiResult,
  NodeWatch,
  Stat,
  TransactionReply,
  Watch,
  WatchedNode,
  Watcher,
  WatchEvent,
} from '../client/zookeeper-client.js';

/** The requests that recipes may make. Each one settles, see `ZooKeeperClient`. */
export type Requests = Pick<
  ZooKeeperClient,
  | 'create'
  | 'createFirst'
  | 'knows'
  | 'forget'
  | 'delete'
  | 'children'
  | 'read'
  | 'watch'
  | 'watchData'
  | 'watchExistence'
  | 'watchChildren'
  | 'sync'
  | 'multi'
  | 'latestZxid'
>;

/** The error of a request or a wait whose session is over. The session's znodes are deleted with it. */
export class SessionEndedError extends Error {
  constructor(readonly why: SessionEnd) {
    super(`the ZooKeeper session is over: ${why}`);
    this.name = 'SessionEndedError';
  }
}
