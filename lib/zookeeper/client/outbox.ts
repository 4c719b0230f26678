import { BoundedMap } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { multiRecord, readMultiResults, refusedAt } from '../wire/multi.js';
import type { MultiOp, MultiResult } from '../wire/multi.js';
import { CreateMode, OpCode } from '../wire/codes.js';
import { createRecord, versionRecord } from '../wire/records.js';
import { isConnectionLoss, KeeperError, RequestTooLargeError } from './keeper-error.js';
import { PendingRequest } from './pending-request.js';
import type { Reply } from './pending-request.js';
import { TurnWatches } from './watch-table.js';
import type { CreatedNode, CreateRequest } from './zookeeper-client.js';

/** Sends requests in order, in one write of the socket, or fails them when there is no connection. */
type Send = (requests: readonly PendingRequest[]) => void;

/**
 * Collects the requests of one turn of the event loop and sends them at the turn's end, in one write. Creates and
 * deletes that may share transactions are first, then everything else.
 * So a list that is requested in the same turn as a create contains the created znode. All requests for the
 * same list in one turn share one reply. The data watches of one turn are set by one request.
 */
export class Outbox {
  /** The directories that were seen to exist. */
  readonly directories = new SeenDirectories();
  readonly #send: Send;
  readonly #groupCommit = new GroupCommit(this.directories, (request) => void this.add(request));
  #shared = new Map<string, Promise<unknown>>();
  #writes: GroupedWrite[] = [];
  #requests: PendingRequest[] = [];
  #watches: TurnWatches | undefined;
  #isDue = false;

  constructor(send: Send) {
    this.#send = send;
  }

  /** Sends the request at the end of this turn, or fails it. */
  add<T>(request: PendingRequest<T>): Promise<T> {
    this.#requests.push(request);
    this.#atEndOfTurn();
    return request.reply;
  }

  join(write: GroupedWrite): Promise<CreatedNode> {
    this.#writes.push(write);
    this.#atEndOfTurn();
    return write.done.promise;
  }

  /**
   * Sets a data watch. Resolves when it is set.
   * @param since a change after this zxid fires the watch too
   */
  watch(path: string, since?: bigint): Promise<void> {
    const watches = (this.#watches ??= new TurnWatches());
    watches.paths.push(path);
    if (since !== undefined && since < watches.since) watches.since = since;
    this.#atEndOfTurn();
    return watches.set.promise;
  }

  /** Returns the promise of `ask`. All callers with the same `what` in this turn share one promise. */
  shared<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const asked = (this.#shared.get(what) as Promise<T> | undefined) ?? ask();
    this.#shared.set(what, asked);
    return asked;
  }

  /** Sends now the requests that are due at the end of the turn. */
  flush(): void {
    this.#isDue = false;
    const [writes, requests] = [this.#writes, this.#requests];
    if (this.#watches) requests.push(...this.#watches.toRequests());
    this.#watches = undefined;
    this.#writes = [];
    this.#requests = [];
    // Replaced and not cleared: a long-lived map keeps its former entries in memory, see `LinkedList`.
    if (this.#shared.size > 0) this.#shared = new Map();
    const all = writes.length > 0 ? [...this.#groupCommit.requestsFor(writes), ...requests] : requests;
    if (all.length > 0) this.#send(all);
  }

  #atEndOfTurn(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    // This runs after the continuations of promises that are already settled. Their requests belong to this turn.
    process.nextTick(() => this.flush());
  }
}

const MOST_DIRECTORIES = 10_000;

/** The directories that were seen to exist, as far as this process remembers. Creates in them may join a transaction. */
class SeenDirectories {
  readonly #directories = new BoundedMap<true>(MOST_DIRECTORIES);

  saw(directory: string): void {
    if (this.#directories.get(directory) !== true) this.#directories.set(directory, true);
  }

  knows(directory: string): boolean {
    return this.#directories.get(directory) === true;
  }

  /** Records that a directory may not exist any more. */
  forget(directory: string): void {
    this.#directories.delete(directory);
  }
}

// A transaction is one message between the servers and one entry in their logs. A large one delays all other clients.
const MOST_WRITES = 128;
const MOST_BYTES = 128 * 1024;

/**
 * Group commit: the creates and deletes of this process in one turn, for different keys, become one transaction. That
 * is one proposal and one write to the servers' disks instead of many.
 *
 * - One transaction never creates two contenders in one directory: they would share a zxid, and so a fencing token.
 * - A transaction fails as a whole, so a create joins only if its directory is known to exist. Creates that bring their
 *   directory along have transactions of their own.
 * - If a transaction still fails, each write is sent again by itself. The error of one write may be caused by another
 *   write that was undone with it. For example, of two deletes of one znode the second finds none.
 * - A single write is sent as a plain request.
 */
class GroupCommit {
  readonly #directories: SeenDirectories;
  readonly #sendAgain: (request: PendingRequest) => void;

  /** @param sendAgain called with each write of a transaction that failed */
  constructor(directories: SeenDirectories, sendAgain: (request: PendingRequest) => void) {
    this.#directories = directories;
    this.#sendAgain = sendAgain;
  }

  /** Returns the requests that carry out these writes of one turn. */
  requestsFor(writes: readonly GroupedWrite[]): PendingRequest[] {
    const [first] = writes;
    if (first && writes.length === 1) return [this.#alone(first)];
    return grouped(writes, (write) => this.#groupFor(write)).map((group) => this.#requestFor(group));
  }

  #groupFor({ directory, isContainer, parent }: GroupedWrite): GroupKind {
    if (parent) return 'new';
    return directory === undefined || (!isContainer && this.#directories.knows(directory)) ? 'known' : 'alone';
  }

  #requestFor(group: readonly GroupedWrite[]): PendingRequest {
    const [first] = group;
    return first && group.length === 1 ? this.#alone(first) : this.#together(group);
  }

  #alone(write: GroupedWrite): PendingRequest {
    const { directory, done } = write;
    const request = write.request();
    request.reply.catch(done.reject);
    if (directory === undefined) return request;
    done.promise.then(
      () => this.#directories.saw(directory),
      () => this.#directories.forget(directory),
    );
    return request;
  }

  #together(group: readonly GroupedWrite[]): PendingRequest {
    const record = multiRecord(group.flatMap(({ ops }) => ops));
    const request = new PendingRequest(OpCode.multi, record, undefined, (reply) => this.#answered(group, reply));
    request.reply.catch((error: unknown) => {
      if (isRefusal(error)) this.#oneByOne(group);
      else group.forEach(({ done }) => done.reject(error));
    });
    return request;
  }

  #answered(group: readonly GroupedWrite[], { body, zxid }: Reply): void {
    const results = readMultiResults(body);
    const isApplied = results.every(({ error }) => error === 0);
    if (!isApplied) return this.#oneByOne(group);
    let place = 0;
    for (const write of group) {
      place += write.ops.length;
      write.applied(results[place - 1], zxid);
      if (write.parent) this.#directories.saw(write.parent.path);
    }
  }

  #oneByOne(writes: readonly GroupedWrite[]): void {
    writes.forEach((write) => this.#sendAgain(this.#alone(write)));
  }
}

/** Whether nothing was applied, and a single write of the group may be the cause. */
function isRefusal(error: unknown): boolean {
  return (error instanceof KeeperError && !isConnectionLoss(error)) || error instanceof RequestTooLargeError;
}

/** Which writes a write may share a transaction with: those in known directories, those in new ones, or none. */
type GroupKind = 'known' | 'new' | 'alone';

/** Splits writes into transactions of limited size, with at most one create per directory each. */
function grouped(writes: readonly GroupedWrite[], kindOf: (write: GroupedWrite) => GroupKind): GroupedWrite[][] {
  const alone: GroupedWrite[][] = [];
  const groups = { known: new Groups(), new: new Groups() };
  for (const write of writes) {
    const kind = kindOf(write);
    if (kind === 'alone') alone.push([write]);
    else groups[kind].add(write);
  }
  return [...alone, ...[...groups.known.all, ...groups.new.all].map(({ writes: group }) => group)];
}

interface Group {
  readonly writes: GroupedWrite[];
  bytes: number;
}

class Groups {
  readonly all: Group[] = [];
  /**
   * The index of the first group without a create in this directory. For `undefined`: of the first group that may have
   * room.
   */
  readonly #next = new Map<string | undefined, number>();

  add(write: GroupedWrite): void {
    const { directory, bytes } = write;
    let place = Math.max(this.#next.get(directory) ?? 0, this.#next.get(undefined) ?? 0);
    while (isFull(this.all[place], bytes)) place++;
    const group = (this.all[place] ??= { writes: [], bytes: 0 });
    group.writes.push(write);
    group.bytes += bytes;
    this.#next.set(directory, directory === undefined ? place : place + 1);
  }
}

function isFull(group: Group | undefined, bytes: number): boolean {
  return group !== undefined && (group.writes.length >= MOST_WRITES || group.bytes + bytes > MOST_BYTES);
}

// The bytes of an operation beside its path and data: headers, flags, an access list.
const OTHER_BYTES = 128;

/** A create or delete of one znode that may share a transaction with others, and the promise of its result. */
export class GroupedWrite {
  readonly op: MultiOp & { readonly type: 'create' | 'delete' };
  readonly done: Deferred<CreatedNode> = deferred();
  /** The directory of the created znode. `undefined` for a delete. */
  readonly directory: string | undefined;
  /** The operation that creates the directory right before. */
  readonly parent: MultiOp | undefined;

  constructor(what: CreateRequest | string, parent?: MultiOp) {
    this.parent = parent;
    if (typeof what === 'string') {
      this.op = { type: 'delete', path: what };
    } else {
      const { path, data, acl, mode } = what;
      this.op = { type: 'create', path, data, acl, flags: mode };
      this.directory = directoryOf(path);
    }
  }

  get ops(): readonly MultiOp[] {
    return this.parent ? [this.parent, this.op] : [this.op];
  }

  /** Whether the write creates a container, which needs a request type of its own. */
  get isContainer(): boolean {
    return this.op.type === 'create' && this.op.flags === CreateMode.container;
  }

  /** The approximate size of the write within a request. */
  get bytes(): number {
    const data = this.op.type === 'create' ? this.op.data.length : 0;
    return this.ops.reduce((sum, { path }) => sum + path.length + OTHER_BYTES, data);
  }

  /** Returns a request that does only this write. Its reply settles `done`, its failure does not. */
  request(): PendingRequest {
    const { op, done } = this;
    const { path } = op;
    if (this.parent) {
      return new PendingRequest(OpCode.multi, multiRecord(this.ops), undefined, (reply) => this.#both(reply));
    }
    if (op.type === 'delete') {
      return new PendingRequest(OpCode.delete, versionRecord(path), path, ({ zxid }) =>
        done.resolve({ path, czxid: zxid }),
      );
    }
    const type = op.flags === CreateMode.container ? OpCode.createContainer : OpCode.create2;
    // The reply is the path and a stat, which begins with the czxid.
    return new PendingRequest(type, createRecord(path, op.data, op.acl, op.flags), path, ({ body }) =>
      done.resolve({ path: body.string(), czxid: body.long() }),
    );
  }

  #both({ body, zxid }: Reply): void {
    const results = readMultiResults(body);
    const refused = refusedAt(results);
    if (refused < 0) this.applied(results[1], zxid);
    else this.done.reject(new KeeperError(results[refused]?.error ?? 0, this.ops[refused]?.path));
  }

  /** Settles `done` with the result of a transaction that was applied. */
  applied({ path = this.op.path }: Pick<MultiResult, 'path'> = {}, zxid: bigint): void {
    this.done.resolve({ path, czxid: zxid });
  }
}

/** The path of a znode's parent. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
