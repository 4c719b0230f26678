import { deferred } from '../../async/deferred.js';
import { multiRecord, readMultiResults } from '../wire/multi.js';
import { CreateMode, OpCode } from '../wire/op-codes.js';
import {
  createRecord,
  pathRecord,
  pathWatchRecord,
  readStat,
  removeWatchesRecord,
  versionRecord,
} from '../wire/records.js';
import { Connection } from './connection.js';
import type { ConnectionOptions } from './connection.options.js';
import { WatchTable } from './watch-table.js';
import type { Watch, WatchEvent } from './watch-table.js';
import type {
  ClientListener,
  CreatedNode,
  CreateRequest,
  MultiOp,
  Stat,
  TransactionReply,
  ZooKeeperClient,
} from './zookeeper-client.js';

const DATA_WATCH = 2;

/** ZooKeeper's requests over one hardened driver connection. */
export class NodeZooKeeperClient implements ZooKeeperClient {
  readonly #watches = new WatchTable();
  readonly #connection: Connection;

  constructor(options: ConnectionOptions, listener: ClientListener) {
    this.#connection = new Connection(options, this.#watches, listener);
  }

  get unansweredSince(): number | undefined {
    return this.#connection.unansweredSince;
  }

  get lastError(): Error | undefined {
    return this.#connection.lastError;
  }

  connect(): void {
    this.#connection.open();
  }

  async create({ path, data, acl, mode }: CreateRequest): Promise<CreatedNode> {
    const type = mode === CreateMode.container ? OpCode.createContainer : OpCode.create2;
    const { body } = await this.#connection.request(type, createRecord(path, data, acl, mode), path);
    return { path: body.string(), czxid: readStat(body).czxid };
  }

  async delete(path: string): Promise<void> {
    await this.#connection.request(OpCode.delete, versionRecord(path), path);
  }

  async children(path: string): Promise<readonly string[]> {
    const { body } = await this.#connection.request(OpCode.getChildren2, pathWatchRecord(path, false), path);
    return body.vector(() => body.string());
  }

  async read(path: string): Promise<{ data: Buffer; stat: Stat }> {
    const { body } = await this.#connection.request(OpCode.getData, pathWatchRecord(path, false), path);
    return { data: body.buffer(), stat: readStat(body) };
  }

  async watch(path: string): Promise<Watch> {
    const fired = deferred<WatchEvent>();
    const forget = this.#watches.add(path, fired.resolve);
    try {
      // getData and not exists: on a znode that is gone, exists would leave a watch that never fires.
      await this.#connection.request(OpCode.getData, pathWatchRecord(path, true), path);
    } catch (error) {
      forget();
      throw error;
    }
    const remove = () => {
      if (forget()) this.#removeWatch(path);
    };
    return { fired: fired.promise, remove };
  }

  async sync(path: string): Promise<void> {
    await this.#connection.request(OpCode.sync, pathRecord(path), path);
  }

  async multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    const { body, zxid } = await this.#connection.request(OpCode.multi, multiRecord(ops));
    return { results: readMultiResults(body), zxid };
  }

  ping(): void {
    this.#connection.ping();
  }

  dropLink(): void {
    this.#connection.drop();
  }

  close(deadlineMs: number): Promise<void> {
    return this.#connection.close(deadlineMs);
  }

  // When it cannot be taken back now, it goes with the connection or fires for nobody.
  #removeWatch(path: string): void {
    this.#connection.request(OpCode.removeWatches, removeWatchesRecord(path, DATA_WATCH), path).catch(() => {});
  }
}
