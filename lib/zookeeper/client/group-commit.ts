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
import { BoundedMap } from '../../async/bounded-map.js';
import { multiRecord, readMultiResults } from '../wire/multi.js';
import { OpCode } from '../wire/op-codes.js';
import type { GroupedWrite } from './grouped-write.js';
import { isConnectionLoss, KeeperError } from './keeper-error.js';
import { PendingRequest } from './pending-request.js';
import type { Reply } from './pending-request.js';
import { RequestTooLargeError } from './request-too-large-error.js';

// A transaction is one message between the servers and one entry in their logs: large ones delay everybody else's.
const MOST_WRITES = 128;
const MOST_BYTES = 128 * 1024;
const MOST_DIRECTORIES = 10_000;

export class GroupCommit {
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
