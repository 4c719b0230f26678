import { ErrorCode, OpCode } from '../wire/codes.js';
import { multiRecord, readMultiResults } from '../wire/multi.js';
import { pathRecord, pathWatchRecord, readStat, removeWatchesRecord } from '../wire/records.js';
import { Connection } from './connection.js';
import type { ConnectionOptions } from './dialer.js';
import { directoryOf, GroupedWrite } from './outbox.js';
import type { Outbox } from './outbox.js';
import { isKeeperError, KeeperError } from './keeper-error.js';
import { PendingRequest, readNothing } from './pending-request.js';
import type { Reply } from './pending-request.js';
import { TableWatch, WatchTables } from './watch-table.js';
import type { NodeWatch, Watch, WatchKind } from './watch-table.js';
import type {
  ClientListener,
  CreatedNode,
  CreateRequest,
  MultiOp,
  Stat,
  TransactionReply,
  WatchedNode,
  ZooKeeperClient,
} from './zookeeper-client.js';

/** ZooKeeper's codes for the kinds of watches. */
const WATCHER_TYPES = { children: 1, data: 2 } as const;

/** ZooKeeper's requests over one hardened driver connection. */
export class NodeZooKeeperClient implements ZooKeeperClient {
  readonly #watches = new WatchTables();
  readonly #connection: Connection;
  readonly #outbox: Outbox;

  constructor(options: ConnectionOptions, listener: ClientListener) {
    this.#connection = new Connection(options, this.#watches, listener);
    this.#outbox = this.#connection.outbox;
  }

  get unansweredSince(): number | undefined {
    return this.#connection.unansweredSince;
  }

  get latestZxid(): bigint {
    return this.#connection.latestZxid;
  }

  get lastError(): Error | undefined {
    return this.#connection.lastError;
  }

  connect(): void {
    this.#connection.open();
  }

  create(request: CreateRequest): Promise<CreatedNode> {
    return this.#outbox.join(new GroupedWrite(request));
  }

  createFirst(request: CreateRequest, directory: MultiOp): Promise<CreatedNode> {
    return this.#outbox.join(new GroupedWrite(request, directory));
  }

  knows(directory: string): boolean {
    return this.#outbox.directories.knows(directory);
  }

  forget(directory: string): void {
    this.#outbox.directories.forget(directory);
  }

  async delete(path: string): Promise<void> {
    await this.#outbox.join(new GroupedWrite(path));
  }

  children(path: string): Promise<readonly string[]> {
    return this.#outbox.shared(path, () =>
      this.#outbox.add(new PendingRequest(OpCode.getChildren2, pathWatchRecord(path, false), path, readNames)),
    );
  }

  read(path: string): Promise<{ data: Buffer; stat: Stat }> {
    return this.#outbox.add(new PendingRequest(OpCode.getData, pathWatchRecord(path, false), path, readNode));
  }

  async watch(path: string, since?: bigint): Promise<NodeWatch> {
    const watch = new TableWatch(this.#watches, 'data', path, this.#unset);
    try {
      await this.#outbox.watch(path, since);
    } catch (error) {
      watch.forget();
      throw error;
    }
    if (watch.event === 'deleted') throw new KeeperError(ErrorCode.noNode, path);
    return watch;
  }

  watchData(path: string): Promise<WatchedNode> {
    return this.#watched('data', path, OpCode.getData, (reply, watch) => ({ ...readNode(reply), watch }));
  }

  async watchExistence(path: string): Promise<{ isThere: boolean; watch: Watch }> {
    // Kept with the data watches even if the znode does not exist. Set again after a reconnect it fires at once, as a
    // hint to look again.
    const watch = new TableWatch(this.#watches, 'data', path, this.#unset);
    try {
      await this.#outbox.add(new PendingRequest(OpCode.exists, pathWatchRecord(path, true), path, readNothing));
      return { isThere: true, watch };
    } catch (error) {
      if (isKeeperError(error, 'noNode')) return { isThere: false, watch };
      watch.forget();
      throw error;
    }
  }

  watchChildren(path: string): Promise<{ names: readonly string[]; watch: Watch }> {
    return this.#watched('children', path, OpCode.getChildren2, (reply, watch) => ({ names: readNames(reply), watch }));
  }

  sync(path: string): Promise<void> {
    return this.#outbox.add(new PendingRequest(OpCode.sync, pathRecord(path), path, readNothing));
  }

  async multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    ops.forEach(({ type, path }) => type === 'delete' && this.#outbox.directories.forget(path));
    const { results, zxid } = await this.#outbox.add(
      new PendingRequest(OpCode.multi, multiRecord(ops), undefined, readTransaction),
    );
    const isApplied = results.every(({ error }) => error === ErrorCode.ok);
    if (isApplied) {
      ops.forEach(({ type, path }) => type === 'create' && this.#outbox.directories.saw(directoryOf(path)));
    }
    return { results, zxid };
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

  #watched<T>(kind: WatchKind, path: string, type: OpCode, read: (reply: Reply, watch: NodeWatch) => T): Promise<T> {
    const watch = new TableWatch(this.#watches, kind, path, this.#unset);
    const asked = this.#outbox.add(
      new PendingRequest(type, pathWatchRecord(path, true), path, (reply) => read(reply, watch)),
    );
    return asked.catch((error: unknown) => {
      watch.forget();
      throw error;
    });
  }

  // If the watch cannot be removed now, it ends with the connection, or fires without a watcher.
  readonly #unset = ({ kind, path }: TableWatch): void => {
    const record = removeWatchesRecord(path, WATCHER_TYPES[kind]);
    this.#outbox.add(new PendingRequest(OpCode.removeWatches, record, path, readNothing)).catch(() => {});
  };
}

function readNames({ body }: Reply): readonly string[] {
  return body.vector(() => body.string());
}

function readNode({ body }: Reply): { data: Buffer; stat: Stat } {
  return { data: body.buffer(), stat: readStat(body) };
}

function readTransaction({ body, zxid }: Reply): TransactionReply {
  return { results: readMultiResults(body), zxid };
}
