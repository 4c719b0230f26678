import type { AskedAcl, RequestReader } from '../wire/request-reader.js';
import type { ServerOpName } from '../wire/server-op-codes.js';

export type CreateOp = 'create' | 'create2' | 'createContainer' | 'createTtl';

export interface CreateRequest {
  readonly type: CreateOp;
  readonly path: string;
  readonly data: Buffer | null;
  readonly acl: readonly AskedAcl[];
  readonly flags: number;
  /** -1 for none. */
  readonly ttlMs: bigint;
  /** Whether its flags require a time to live, while its type has no field for it. */
  readonly lacksTtl?: boolean;
}

/** A request that changes one znode, or checks one. */
export type WriteRequest =
  | CreateRequest
  | { readonly type: 'delete' | 'check'; readonly path: string; readonly version: number }
  | { readonly type: 'deleteContainer'; readonly path: string }
  | { readonly type: 'setData'; readonly path: string; readonly data: Buffer | null; readonly version: number }
  | { readonly type: 'setAcl'; readonly path: string; readonly acl: readonly AskedAcl[]; readonly version: number };

export type WriteOp = WriteRequest['type'];

export const NO_TTL = -1n;

export function isWriteOp(name: ServerOpName): name is WriteOp {
  return name in READERS;
}

/** @throws RangeError when the bytes are no such request */
export function readWriteRequest(type: WriteOp, reader: RequestReader): WriteRequest {
  return READERS[type](reader, type);
}

type Read = (reader: RequestReader, type: WriteOp) => WriteRequest;

const readCreate: Read = (reader, type) => ({
  type: type as CreateOp,
  path: reader.string(),
  data: ownCopy(reader.nullableBuffer()),
  acl: reader.acl(),
  flags: reader.int(),
  ttlMs: type === 'createTtl' ? reader.long() : NO_TTL,
});

/** A null path is invalid, and is refused like any other invalid path. */
const NO_PATH = '';

const READERS: Readonly<Record<WriteOp, Read>> = {
  create: readCreate,
  create2: readCreate,
  createContainer: readCreate,
  createTtl: readCreate,
  delete: (reader) => ({ type: 'delete', path: reader.string(), version: reader.int() }),
  check: (reader) => ({ type: 'check', path: reader.nullableString() ?? NO_PATH, version: reader.int() }),
  deleteContainer: (reader) => ({ type: 'deleteContainer', path: reader.string() }),
  setData: (reader) => ({
    type: 'setData',
    path: reader.nullableString() ?? NO_PATH,
    data: ownCopy(reader.nullableBuffer()),
    version: reader.int(),
  }),
  setAcl: (reader) => ({
    type: 'setAcl',
    path: reader.nullableString() ?? NO_PATH,
    acl: reader.acl(),
    version: reader.int(),
  }),
};

/** Copies data that is stored, so that it does not keep the whole chunk that it arrived in. */
function ownCopy(data: Buffer | null): Buffer | null {
  return data && Buffer.from(data);
}
