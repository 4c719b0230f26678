import type { ZooKeeperClient } from '../client/zookeeper-client.js';

export { SessionEndedError } from '../../sessions/backend-sessions.js';
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
