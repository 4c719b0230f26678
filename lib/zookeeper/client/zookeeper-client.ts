import type { Acl, Stat } from '../wire/records.js';
import type { MultiOp, MultiResult } from '../wire/multi.js';
import { CreateMode } from '../wire/codes.js';
import type { NodeWatch, Watch, Watcher, WatchEvent } from './watch-table.js';

export { ErrorCode } from '../wire/codes.js';
export { refusedAt } from '../wire/multi.js';
export { CreateMode };
export type { Acl, MultiOp, MultiResult, NodeWatch, Stat, Watch, Watcher, WatchEvent };

export interface CreateRequest {
  readonly path: string;
  readonly data: Buffer;
  readonly acl: readonly Acl[];
  readonly mode: CreateMode;
}

export interface CreatedNode {
  /** The path, with the sequence number if the znode is sequential. */
  readonly path: string;
  readonly czxid: bigint;
}

export interface TransactionReply {
  readonly results: readonly MultiResult[];
  /** The transaction's zxid: the czxid of every znode that it created. */
  readonly zxid: bigint;
}

/** The data of a znode, and a watch on it. */
export interface WatchedNode {
  readonly data: Buffer;
  readonly stat: Stat;
  readonly watch: NodeWatch;
}

/** An answered request: when it was sent and answered, and whether a quorum had to agree to the reply. */
export interface Answer {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly isQuorum: boolean;
}

export interface Handshake {
  readonly sessionId: bigint;
  readonly timeoutMs: number;
  readonly sentAt: number;
  /** The server that has answered, as `host:port`. */
  readonly server?: string | undefined;
}

/** The reason for the end of a session. */
export type SessionEnd =
  'expired' | 'authentication failed' | 'replaced by the server' | 'unanswered' | 'the servers lost data' | 'closed';

/** The listener of a client. Each event is reported in the turn in which the client detects it. */
export interface ClientListener {
  /** A server accepted the session: a new one, or the same one again after a disconnection. */
  connected(handshake: Handshake): void;
  disconnected(): void;
  /** The session is over. This client never connects again. */
  ended(why: SessionEnd): void;
  answered(answer: Answer): void;
}

/**
 * The requests of one ZooKeeper session. Every request settles in one of three ways:
 * - with its reply
 * - with a `KeeperError` from the server
 * - with a `KeeperError` that says that the connection was lost, at once if there is no connection
 *
 * Requests are sent at the end of the turn in which they are made. Creates and deletes are sent first, possibly in one
 * transaction, then the others. No request is sent later than that.
 */
export interface ZooKeeperClient {
  /** The time (on `now()`) since which a request has been unanswered. `undefined` when all are answered. */
  readonly unansweredSince: number | undefined;
  /** The largest zxid of all replies. A change that is requested from now on gets a larger one. */
  readonly latestZxid: bigint;
  /** The last error of the connection, to explain why no server answers. */
  readonly lastError: Error | undefined;
  connect(): void;
  create(request: CreateRequest): Promise<CreatedNode>;
  /**
   * Creates a znode together with its directory, in one transaction. The znode is then the first one in it. Rejects with
   * `nodeExists` at the directory's path if the directory exists.
   */
  createFirst(request: CreateRequest, directory: MultiOp): Promise<CreatedNode>;
  /** Whether a directory was seen to exist. It may have been deleted since. */
  knows(directory: string): boolean;
  /** Records that a directory was found to be missing. */
  forget(directory: string): void;
  delete(path: string): Promise<void>;
  /**
   * Lists the children. Sent after all creates and deletes of the same turn, once for all callers that request the same
   * list in it.
   */
  children(path: string): Promise<readonly string[]>;
  read(path: string): Promise<{ readonly data: Buffer; readonly stat: Stat }>;
  /**
   * Sets a data watch, in one request with all others of the same turn. Rejects, without a watch, when the znode does
   * not exist. An earlier change may fire it too, so an event is only a hint.
   * @param since every change after this zxid fires the watch
   */
  watch(path: string, since?: bigint): Promise<NodeWatch>;
  /** Like `watch`, and returns the znode's data. */
  watchData(path: string): Promise<WatchedNode>;
  /** Returns whether the znode exists, and sets a watch on its existence and data. The watch is set in both cases. */
  watchExistence(path: string): Promise<{ readonly isThere: boolean; readonly watch: Watch }>;
  /** Lists the children and watches the list. Rejects, without a watch, when the znode does not exist. */
  watchChildren(path: string): Promise<{ readonly names: readonly string[]; readonly watch: Watch }>;
  /** Makes this server catch up with the leader before it answers later requests. */
  sync(path: string): Promise<void>;
  multi(ops: readonly MultiOp[]): Promise<TransactionReply>;
  ping(): void;
  /** Closes the connection and tries the next server, with the same session. */
  dropLink(): void;
  /** Ends the session, also at the server if it replies within `deadlineMs`. Never rejects. */
  close(deadlineMs: number): Promise<void>;
}
