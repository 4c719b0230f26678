import type { Acl, Stat } from '../wire/records.js';
import type { MultiOp, MultiResult } from '../wire/multi.js';
import { CreateMode } from '../wire/op-codes.js';
import type { Watch } from './watch-table.js';

export { ErrorCode } from '../wire/error-codes.js';
export { CreateMode };
export type { Acl, MultiOp, MultiResult, Stat, Watch };

export interface CreateRequest {
  readonly path: string;
  readonly data: Buffer;
  readonly acl: readonly Acl[];
  readonly mode: CreateMode;
}

export interface CreatedNode {
  /** The path with the sequence number, where there is one. */
  readonly path: string;
  readonly czxid: bigint;
}

export interface TransactionReply {
  readonly results: readonly MultiResult[];
  /** The transaction's zxid: the czxid of every znode that it created. */
  readonly zxid: bigint;
}

/** What a znode says, and a watch on it. */
export interface WatchedNode {
  readonly data: Buffer;
  readonly stat: Stat;
  readonly watch: Watch;
}

/** An answered request: when it was sent and answered, and whether a quorum had to agree to the answer. */
export interface Answer {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly isQuorum: boolean;
}

export interface Handshake {
  readonly sessionId: bigint;
  readonly timeoutMs: number;
  readonly sentAt: number;
}

/** Why a session is over for good. */
export type SessionEnd =
  'expired' | 'authentication failed' | 'replaced by the server' | 'unanswered' | 'the servers lost data' | 'closed';

/** What a client reports, each in the turn in which it learned of it. */
export interface ClientListener {
  /** A server accepted the session: a new one, or the same one again after a disconnection. */
  connected(handshake: Handshake): void;
  disconnected(): void;
  /** The session is over; this client never connects again. */
  ended(why: SessionEnd): void;
  answered(answer: Answer): void;
}

/**
 * One ZooKeeper session's requests. Every request settles: with its answer, with a `KeeperError` of the server, or
 * with one that says that the connection was lost, at once when there is none. Requests leave at the end of the turn in
 * which they are made: creates and deletes first, maybe in one transaction, then the others; nothing is sent later.
 */
export interface ZooKeeperClient {
  /** Since when (on `now()`) a request has been without an answer; `undefined` when all are answered. */
  readonly unansweredSince: number | undefined;
  /** The largest zxid of all answers: what a request changes that is sent from now on gets a larger one. */
  readonly latestZxid: bigint;
  /** What went wrong with the connection last; to be told when nothing works. */
  readonly lastError: Error | undefined;
  connect(): void;
  create(request: CreateRequest): Promise<CreatedNode>;
  delete(path: string): Promise<void>;
  /** Sent behind all creates and deletes of the same turn, once for all who ask for the same list in it. */
  children(path: string): Promise<readonly string[]>;
  read(path: string): Promise<{ readonly data: Buffer; readonly stat: Stat }>;
  /** Sets a data watch. Rejects, without a watch, when the znode is not there. */
  watch(path: string): Promise<Watch>;
  /** As `watch`, with what the znode says. */
  watchData(path: string): Promise<WatchedNode>;
  /** Tells whether the znode is there, and sets a watch on that and on its data, whether it is there or not. */
  watchExistence(path: string): Promise<{ readonly isThere: boolean; readonly watch: Watch }>;
  /** Lists the children, and sets a watch on who they are. Rejects, without a watch, when the znode is not there. */
  watchChildren(path: string): Promise<{ readonly names: readonly string[]; readonly watch: Watch }>;
  /** Makes this server catch up with the leader before it answers what follows. */
  sync(path: string): Promise<void>;
  multi(ops: readonly MultiOp[]): Promise<TransactionReply>;
  ping(): void;
  /** Gives the connection up and tries the next server, with the same session. */
  dropLink(): void;
  /** Ends the session, at the server too if it answers within `deadlineMs`. Never rejects. */
  close(deadlineMs: number): Promise<void>;
}
