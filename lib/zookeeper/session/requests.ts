import type { ZooKeeperClient } from '../client/zookeeper-client.js';

export { isConnectionLoss, isKeeperError, KeeperError } from '../client/keeper-error.js';
export { RequestTooLargeError } from '../client/request-too-large-error.js';
export { CreateMode, ErrorCode } from '../client/zookeeper-client.js';
export type {
  Acl,
  CreatedNode,
  MultiOp,
  MultiResult,
  Stat,
  TransactionReply,
  Watch,
  WatchedNode,
} from '../client/zookeeper-client.js';

/** The requests that recipes may make; each settles, see `ZooKeeperClient`. */
export type Requests = Pick<
  ZooKeeperClient,
  | 'create'
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
