import { BoundedMap } from '../../async/collections.js';
import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import { multiRecord, readMultiResults } from '../wire/multi.js';
import type { MultiOp, MultiResult } from '../wire/multi.js';
import { CreateMode, OpCode } from '../wire/op-codes.js';
import { createRecord, readCzxid, versionRecord } from '../wire/records.js';
import { isConnectionLoss, KeeperError, RequestTooLargeError } from './keeper-error.js';
import { PendingRequest } from './pending-request.js';
import type { Reply } from './pending-request.js';
import type { CreatedNode, CreateRequest } from './zookeeper-client.js';

/** Sends requests one behind the other in one write of the socket, or fails them when there is no connection. */
type Send = (requests: readonly PendingRequest[]) => void;

/**
 * What this process asks for in one turn of its event loop leaves at the turn's end: first the creates and deletes that
 * may share transactions, then everything else, in one write. So a list that is asked for in the same turn as a create
 * shows its znode, and one list does for all who ask for it.
 */
export class Outbox {
  readonly #send: Send;
  readonly #groupCommit = new GroupCommit((request) => this.add(request));
  #shared = new Map<string, Promise<unknown>>();
  #writes: GroupedWrite[] = [];
  #requests: PendingRequest[] = [];
  #isDue = false;

  constructor(send: Send) {
    this.#send = send;
  }

  add(request: PendingRequest): void {
    this.#requests.push(request);
    this.#atEndOfTurn();
  }

  join(write: GroupedWrite): Promise<CreatedNode> {
    this.#writes.push(write);
    this.#atEndOfTurn();
    return write.done.promise;
  }

  /** A directory is there, as somebody has learned in another way than by `join`. */
  saw(directory: string): void {
    this.#groupCommit.saw(directory);
  }

  /** What `ask` promises, to everybody who asks for the same in this turn. */
  shared<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const asked = (this.#shared.get(what) as Promise<T> | undefined) ?? ask();
    this.#shared.set(what, asked);
    return asked;
  }

  /** Sends now what would leave at the end of the turn. */
  flush(): void {
    this.#isDue = false;
    const [writes, requests] = [this.#writes, this.#requests];
    this.#writes = [];
    this.#requests = [];
    // Not cleared: the table of one that lives for long keeps what it had, see `LinkedList`.
    if (this.#shared.size > 0) this.#shared = new Map();
    const all = writes.length > 0 ? [...this.#groupCommit.requestsFor(writes), ...requests] : requests;
    if (all.length > 0) this.#send(all);
  }

  #atEndOfTurn(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    // Behind the promises that are settled already: whoever they wake belongs to this turn.
    process.nextTick(() => this.flush());
  }
}

/**
 * Creates and deletes that this process issues in one turn, for different keys, as one transaction: one proposal and
 * one write to the servers' disks instead of many.
 *
 * - Never two contenders of one directory in one transaction: they would share a zxid, and so a fencing token.
 * - A transaction fails as a whole, so a create joins only where the directory is known to have been there. When one
 *   fails all the same, each write is sent again by itself. The error of one may come from another that was undone with it:
 *   of two deletes of one znode the second finds none.
 * - One that has no company is sent as the plain request that it is.
 */

// A transaction is one message between the servers and one entry in their logs: large ones delay everybody else's.
const MOST_WRITES = 128;
const MOST_BYTES = 128 * 1024;
const MOST_DIRECTORIES = 10_000;

class GroupCommit {
  readonly #sendAgain: (request: PendingRequest) => void;
  readonly #directories = new BoundedMap<true>(MOST_DIRECTORIES);

  /** @param sendAgain what to do with each write of a transaction that failed */
  constructor(sendAgain: (request: PendingRequest) => void) {
    this.#sendAgain = sendAgain;
  }

  /** The requests that carry out these writes of one turn. */
  requestsFor(writes: readonly GroupedWrite[]): PendingRequest[] {
    const [first] = writes;
    const groups = first && writes.length === 1 ? [[first]] : grouped(writes, (write) => this.#mayJoin(write));
    return groups.map((group) => this.#requestFor(group));
  }

  /** A directory is there: creates in it may join. */
  saw(directory: string): void {
    if (this.#directories.get(directory) !== true) this.#directories.set(directory, true);
  }

  #mayJoin({ directory, isContainer }: GroupedWrite): boolean {
    return directory === undefined || (!isContainer && this.#directories.get(directory) === true);
  }

  #requestFor(group: readonly GroupedWrite[]): PendingRequest {
    const [first] = group;
    return first && group.length === 1 ? this.#alone(first) : this.#together(group);
  }

  #alone(write: GroupedWrite): PendingRequest {
    const request = write.alone();
    const { directory } = write;
    if (directory === undefined) return request;
    write.done.promise.then(
      () => this.saw(directory),
      () => this.#directories.delete(directory),
    );
    return request;
  }

  #together(group: readonly GroupedWrite[]): PendingRequest {
    const record = multiRecord(group.map(({ op }) => op));
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
    group.forEach((write, place) => write.applied(results[place] ?? { error: 0 }, zxid));
  }

  #oneByOne(writes: readonly GroupedWrite[]): void {
    writes.forEach((write) => this.#sendAgain(this.#alone(write)));
  }
}

/** Whether nothing was done, for a reason that may be that of one of them. */
function isRefusal(error: unknown): boolean {
  return (error instanceof KeeperError && !isConnectionLoss(error)) || error instanceof RequestTooLargeError;
}

/** Transactions of limited size, with at most one create in a directory each; who may not join is alone. */
function grouped(writes: readonly GroupedWrite[], mayJoin: (write: GroupedWrite) => boolean): GroupedWrite[][] {
  const alone: GroupedWrite[][] = [];
  const groups = new Groups();
  for (const write of writes) {
    if (mayJoin(write)) groups.add(write);
    else alone.push([write]);
  }
  return [...alone, ...groups.all.map(({ writes: group }) => group)];
}

interface Group {
  readonly writes: GroupedWrite[];
  bytes: number;
}

class Groups {
  readonly all: Group[] = [];
  /** Up to where the groups have a create in a directory already; `undefined`: up to where they are full. */
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

// What an operation has beside its path and data: headers, flags, an access list.
const OTHER_BYTES = 128;

/** A create or delete of one znode that may share a transaction with others, and the promise of what became of it. */
export class GroupedWrite {
  readonly op: MultiOp & { readonly type: 'create' | 'delete' };
  readonly done: Deferred<CreatedNode> = deferred();
  /** Of a create: where the znode is made. */
  readonly directory: string | undefined;

  constructor(what: CreateRequest | string) {
    this.op = typeof what === 'string' ? { type: 'delete', path: what } : createOp(what);
    this.directory = typeof what === 'string' ? undefined : directoryOf(what.path);
  }

  /** Whether it is asked for by a request of its own kind. */
  get isContainer(): boolean {
    return this.op.type === 'create' && this.op.flags === CreateMode.container;
  }

  /** Roughly what it takes in a request. */
  get bytes(): number {
    return this.op.path.length + (this.op.type === 'create' ? this.op.data.length : 0) + OTHER_BYTES;
  }

  /** The request that does this and nothing else; it settles `done`. */
  alone(): PendingRequest {
    const read = (reply: Reply) => this.done.resolve(this.#outcome(reply));
    const request = this.op.type === 'create' ? createRequest(this.op, read) : deleteRequest(this.op.path, read);
    request.reply.catch(this.done.reject);
    return request;
  }

  #outcome({ body, zxid }: Reply): CreatedNode {
    if (this.op.type === 'delete') return { path: this.op.path, czxid: zxid };
    return { path: body.string(), czxid: readCzxid(body) };
  }

  /** What a transaction that was applied says of it. */
  applied({ path = this.op.path }: MultiResult, zxid: bigint): void {
    this.done.resolve({ path, czxid: zxid });
  }
}

/** Where a znode is. */
export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function createOp({ path, data, acl, mode }: CreateRequest): MultiOp & { readonly type: 'create' } {
  return { type: 'create', path, data, acl, flags: mode };
}

type Read = (reply: Reply) => void;

function createRequest({ path, data, acl, flags }: MultiOp & { readonly type: 'create' }, read: Read): PendingRequest {
  const type = flags === CreateMode.container ? OpCode.createContainer : OpCode.create2;
  return new PendingRequest(type, createRecord(path, data, acl, flags), path, read);
}

function deleteRequest(path: string, read: Read): PendingRequest {
  return new PendingRequest(OpCode.delete, versionRecord(path), path, read);
}
