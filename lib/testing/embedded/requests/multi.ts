import type { Draft } from '../database/transaction.js';
import { Refusal } from '../wire/refusal.js';
import type { ReplyBody, ReplyWriter } from '../wire/reply-writer.js';
import type { RequestReader } from '../wire/request-reader.js';
import { ServerOpCode } from '../wire/server-op-codes.js';
import type { Client } from './client.js';
import { isRead, readMulti } from './multi-request.js';
import type { ReadRequest } from './multi-request.js';
import { readChildren, readData } from './read.js';
import { write } from './write.js';
import type { Written } from './write.js';
import type { WriteRequest } from './write-request.js';

interface Result {
  readonly type: number;
  readonly error: number;
  readonly body: ReplyBody;
}

const ERROR_TYPE = -1;

/**
 * Executes all requests or none, under one zxid. A refusal is in the results; the error code of the reply itself is 0.
 */
export function multi(reader: RequestReader, client: Client, draft: Draft): ReplyBody {
  const requests = readMulti(reader);
  if (requests.some(isRead)) throw new RangeError('a read in a transaction');
  const writes = requests as readonly WriteRequest[];
  const results: Result[] = [];
  for (const request of writes) {
    try {
      results.push(written(request, write(request, client, draft)));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      draft.undo();
      return resultsBody(refused(writes.length, results.length, error.code));
    }
  }
  return resultsBody(results);
}

function written({ type }: WriteRequest, { path, stat }: Written): Result {
  const body: ReplyBody = (writer) => {
    if (path !== undefined) writer.string(path);
    if (stat && type !== 'create') writer.stat(stat);
  };
  const isCreate2 = type === 'createContainer' || type === 'createTtl';
  return { type: isCreate2 ? ServerOpCode.create2 : ServerOpCode[type], error: 0, body };
}

/** Requests before the refused one get 0. Those after it get the code for requests that were not tried. */
function refused(count: number, wrong: number, code: number): Result[] {
  const notTried = new Refusal('runtimeInconsistency').code;
  const codes = Array.from({ length: count }, (_, at) => (at < wrong ? 0 : at === wrong ? code : notTried));
  return codes.map(errorResult);
}

function errorResult(error: number): Result {
  return { type: ERROR_TYPE, error, body: (writer) => writer.int(error) };
}

/** Executes several reads in one. Each has an answer of its own. */
export function multiRead(reader: RequestReader, client: Client): ReplyBody {
  const requests = readMulti(reader);
  if (!requests.every(isRead)) throw new RangeError('a write among reads');
  return resultsBody(requests.map((request) => readResult(request, client)));
}

function readResult(request: ReadRequest, client: Client): Result {
  try {
    const read = request.type === 'getData' ? readData : readChildren;
    return { type: ServerOpCode[request.type], error: 0, body: read(request.path, false, client) };
  } catch (error) {
    if (error instanceof Refusal) return errorResult(error.code);
    throw error;
  }
}

function resultsBody(results: readonly Result[]): ReplyBody {
  return (writer: ReplyWriter) => {
    for (const { type, error, body } of results) body(writer.int(type).bool(false).int(error));
    writer.int(-1).bool(true).int(-1);
  };
}
