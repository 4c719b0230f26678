import type { RequestReader } from '../wire/request-reader.js';
import { opName } from '../wire/server-op-codes.js';
import type { ServerOpName } from '../wire/server-op-codes.js';
import { isWriteOp, NO_TTL, readWriteRequest } from './write-request.js';
import type { CreateRequest, WriteRequest } from './write-request.js';

export interface ReadRequest {
  readonly type: 'getData' | 'getChildren';
  readonly path: string;
}

/** One request of several, and the type that it was sent with. */
interface Part {
  readonly op: ServerOpName;
  readonly request: WriteRequest | ReadRequest;
}

/** Like `readParts()`, with each request as the server interprets it. */
export function readMulti(reader: RequestReader): (WriteRequest | ReadRequest)[] {
  return readParts(reader).map(({ request }) => request);
}

/** {int type; bool done; int err} and a record, repeated; then {-1, true, -1}. @throws RangeError for anything else */
export function readParts(reader: RequestReader): Part[] {
  const parts: Part[] = [];
  for (;;) {
    const type = reader.int();
    const isEnd = reader.bool();
    reader.int();
    if (isEnd) return parts;
    parts.push(readPart(type, reader));
  }
}

function readPart(code: number, reader: RequestReader): Part {
  const op = opName(code);
  if (op === 'getData' || op === 'getChildren') return { op, request: readPlain(op, reader) };
  if (!op || !isWriteOp(op) || op === 'setAcl' || op === 'deleteContainer') {
    throw new RangeError(`operation ${code} in a transaction`);
  }
  const request = readWriteRequest(op, reader);
  return { op, request: 'flags' in request ? byFlags(request) : request };
}

/** The request also has a watch flag, which is ignored. */
function readPlain(type: ReadRequest['type'], reader: RequestReader): ReadRequest {
  const path = reader.string();
  reader.bool();
  return { type, path };
}

const CONTAINER_FLAGS = 4;
const TTL_FLAGS: ReadonlySet<number> = new Set([5, 6]);

/** In a transaction, ZooKeeper 3.8.0 uses the flags alone, even where they require a time to live and none was sent. */
function byFlags(request: CreateRequest): CreateRequest {
  const { type, flags } = request;
  if (TTL_FLAGS.has(flags)) return { ...request, type: 'createTtl', lacksTtl: type !== 'createTtl' };
  return { ...request, type: flags === CONTAINER_FLAGS ? 'createContainer' : 'create', ttlMs: NO_TTL };
}

export function isRead(request: WriteRequest | ReadRequest): request is ReadRequest {
  return request.type === 'getData' || request.type === 'getChildren';
}
