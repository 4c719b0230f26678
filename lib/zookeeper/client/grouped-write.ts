import { deferred } from '../../async/deferred.js';
import type { Deferred } from '../../async/deferred.js';
import type { MultiOp, MultiResult } from '../wire/multi.js';
import { CreateMode, OpCode } from '../wire/op-codes.js';
import { createRecord, readCzxid, versionRecord } from '../wire/records.js';
import { PendingRequest } from './pending-request.js';
import type { Reply } from './pending-request.js';
import type { CreatedNode, CreateRequest } from './zookeeper-client.js';

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
