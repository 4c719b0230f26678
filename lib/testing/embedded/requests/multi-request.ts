import type { RequestReader } from '../wire/request-reader.js';
import { opName } from '../wire/server-op-codes.js';
import { isWriteOp, readWriteRequest } from './write-request.js';
import type { CreateOp, CreateRequest, WriteRequest } from './write-request.js';

export interface ReadRequest {
  readonly type: 'getData' | 'getChildren';
  readonly path: string;
}

/** {int type; bool done; int err} and a record, repeated; then {-1, true, -1}. @throws RangeError when it is not */
export function readMulti(reader: RequestReader): (WriteRequest | ReadRequest)[] {
  const requests: (WriteRequest | ReadRequest)[] = [];
  for (;;) {
    const type = reader.int();
    const isEnd = reader.bool();
    reader.int();
    if (isEnd) return requests;
    requests.push(readPart(type, reader));
  }
}

function readPart(code: number, reader: RequestReader): WriteRequest | ReadRequest {
  const type = opName(code);
  if (type === 'getData' || type === 'getChildren') return readPlain(type, reader);
  if (!type || !isWriteOp(type) || type === 'setAcl' || type === 'deleteContainer') {
    throw new RangeError(`operation ${code} in a transaction`);
  }
  const request = readWriteRequest(type, reader);
  return 'flags' in request ? { ...request, type: typeByFlags(request) } : request;
}

/** Whether to watch is said as well, but nobody listens. */
function readPlain(type: ReadRequest['type'], reader: RequestReader): ReadRequest {
  const path = reader.string();
  reader.bool();
  return { type, path };
}

const CONTAINER_FLAGS = 4;

/** In a transaction ZooKeeper 3.8.0 goes by the flags alone. */
function typeByFlags({ flags, ttlMs }: CreateRequest): CreateOp {
  if (flags === CONTAINER_FLAGS) return 'createContainer';
  return ttlMs > 0n ? 'createTtl' : 'create';
}

export function isRead(request: WriteRequest | ReadRequest): request is ReadRequest {
  return request.type === 'getData' || request.type === 'getChildren';
}
