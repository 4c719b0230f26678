import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type {
  MultiOp,
  Stat,
  TransactionReply,
  ZooKeeperClient,
} from '../../../../lib/zookeeper/client/zookeeper-client.js';

const notAsked = () => Promise.reject(new Error('this client does not answer that'));
const STAT: Stat = {
  czxid: 0n,
  mzxid: 0n,
  ctime: 0n,
  mtime: 0n,
  version: 0,
  cversion: 0,
  aversion: 0,
  ephemeralOwner: 0n,
  dataLength: 0,
  numChildren: 0,
  pzxid: 0n,
};

/** A client without a connection. It records the requests, and answers as the test configures. */
export class AnsweringClient implements ZooKeeperClient {
  readonly asked: string[] = [];
  /** The readable znodes, with the zxids of their creation. */
  readonly czxids = new Map<string, bigint>();
  /** The children of every directory. */
  names: readonly string[] = [];
  /** The errors of the next requests, one each; later requests are answered. */
  readonly failures: unknown[] = [];
  unansweredSince: number | undefined;
  readonly lastError = undefined;
  readonly latestZxid = 0n;
  /** The error codes of the next transactions' operations; without them, all are applied. */
  errors: readonly number[] | undefined;

  connect(): void {
    this.asked.push('connect');
  }

  ping(): void {
    this.asked.push('ping');
  }

  dropLink(): void {
    this.asked.push('drop');
  }

  async multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    this.#ask(ops.map(({ type, path }) => `${type} ${path}`).join(', '));
    return { results: ops.map((_, place) => ({ error: this.errors?.[place] ?? ErrorCode.ok })), zxid: 1n };
  }

  async read(path: string): Promise<{ data: Buffer; stat: Stat }> {
    this.#ask(`read ${path}`);
    const czxid = this.czxids.get(path);
    if (czxid === undefined) throw new KeeperError(ErrorCode.noNode, path);
    return { data: Buffer.alloc(0), stat: { ...STAT, czxid } };
  }

  async delete(path: string): Promise<void> {
    this.#ask(`delete ${path}`);
  }

  async children(): Promise<readonly string[]> {
    return this.names;
  }

  async close(): Promise<void> {
    this.asked.push('close');
  }

  readonly create = notAsked;
  readonly createFirst = notAsked;
  readonly knows = () => true;
  readonly forget = () => {};
  readonly watch = notAsked;
  readonly watchData = notAsked;
  readonly watchExistence = notAsked;
  readonly watchChildren = notAsked;
  readonly sync = notAsked;

  #ask(what: string): void {
    this.asked.push(what);
    if (this.failures.length > 0) throw this.failures.shift();
  }
}
