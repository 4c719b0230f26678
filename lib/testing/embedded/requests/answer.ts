import type { Draft } from '../database/transaction.js';
import { digestOf } from '../tree/identity.js';
import { Refusal } from '../wire/refusal.js';
import { replyFrame } from '../wire/reply-writer.js';
import type { ReplyBody } from '../wire/reply-writer.js';
import { RequestReader } from '../wire/request-reader.js';
import { opName } from '../wire/server-op-codes.js';
import type { ServerOpName } from '../wire/server-op-codes.js';
import type { Client } from './client.js';
import { multi } from './multi.js';
import { READ_REQUESTS } from './read-requests.js';
import { write } from './write.js';
import { isWriteOp, readWriteRequest } from './write-request.js';

export interface Answer {
  readonly frame: Buffer;
  /** The transaction that the server must have applied before it may send the answer. */
  readonly zxid: bigint;
  /** Whether the connection ends with this answer. */
  readonly isLast?: boolean;
}

const NO_ZXID = -1n;
const PING_XID = -2;
const SESSION_EXPIRED = new Refusal('sessionExpired').code;

/**
 * The place where a request is executed:
 * - `quorum`: by the leader, once a majority agrees
 * - `leader`: by the leader alone
 * - `inTurn`: on this server, in its turn
 * - `atOnce`: on this server, at once
 */
export type Place = 'quorum' | 'leader' | 'inTurn' | 'atOnce';

const BY_QUORUM: ReadonlySet<string> = new Set(['closeSession', 'multi', 'reconfig']);

/** @throws RangeError when the bytes are no request at all */
export function placeOf(bytes: Buffer): Place {
  const name = nameOf(bytes);
  if (name === 'auth' || name === 'sasl') return 'atOnce';
  if (name === 'sync') return 'leader';
  return name && (isWriteOp(name) || BY_QUORUM.has(name)) ? 'quorum' : 'inTurn';
}

export function isGoodbye(bytes: Buffer): boolean {
  return nameOf(bytes) === 'closeSession';
}

function nameOf(bytes: Buffer): ServerOpName | undefined {
  const reader = new RequestReader(bytes);
  reader.int();
  return opName(reader.int());
}

/**
 * Executes a request.
 * @param syncedTo the transaction that a server must have applied before it answers a sync
 * @throws RangeError when the bytes are no request at all
 */
export function answer(bytes: Buffer, client: Client, syncedTo = client.database.zxid): Answer {
  const reader = new RequestReader(bytes);
  const xid = reader.int();
  const name = opName(reader.int());
  if (name === 'auth') return answerAuth(xid, reader, client);
  if (name === 'sasl') return answerSasl(xid, reader);
  if (name === 'closeSession') return answerClose(xid, client);
  if (placeOf(bytes) === 'quorum' && !client.session.isOpen) return refusal(bytes, client, SESSION_EXPIRED);
  if (name === 'sync') return reply(xid, client, () => synced(reader), syncedTo);
  if (name === 'multi') return reply(xid, client, () => inTransaction(client, (draft) => multi(reader, client, draft)));
  if (name === 'reconfig') return reply(xid, client, () => inTransaction(client, refuseReconfig));
  if (name && isWriteOp(name)) return reply(xid, client, () => writeAlone(name, reader, client));
  const read = name && READ_REQUESTS[name];
  if (!read) return { frame: replyFrame(xid, NO_ZXID, codeOf('unimplemented')), zxid: 0n, isLast: true };
  return reply(name === 'ping' ? PING_XID : xid, client, () => read(reader, client));
}

/** Returns the answer to a request that has failed, for whatever reason. */
export function refusal(bytes: Buffer, client: Client, code: number): Answer {
  const xid = new RequestReader(bytes).int();
  return reply(xid, client, () => {
    throw new Refusal(code);
  });
}

function reply(xid: number, client: Client, work: () => ReplyBody, knownBefore = 0n): Answer {
  const { database, replica } = client;
  const before = database.zxid;
  try {
    const body = work();
    const zxid = latest(before, database.zxid, replica.zxid, knownBefore);
    return { frame: replyFrame(xid, zxid, 0, body), zxid };
  } catch (error) {
    const zxid = latest(before, database.zxid, replica.zxid, knownBefore);
    return { frame: replyFrame(xid, zxid, errorCode(error)), zxid };
  }
}

/**
 * Returns the zxid of a reply. For a write it is its own transaction. For a read it is the last one that this server
 * has applied, which may be older than the last commit.
 */
function latest(before: bigint, after: bigint, known: bigint, knownBefore: bigint): bigint {
  if (after > before) return after;
  return known > knownBefore ? known : knownBefore;
}

function errorCode(error: unknown): number {
  if (error instanceof Refusal) return error.code;
  if (error instanceof RangeError) return codeOf('marshallingError');
  throw error;
}

function codeOf(reason: ConstructorParameters<typeof Refusal>[0]): number {
  return new Refusal(reason).code;
}

function inTransaction(client: Client, work: (draft: Draft) => ReplyBody): ReplyBody {
  return client.database.transact(work);
}

function refuseReconfig(): never {
  throw new Refusal('reconfigDisabled');
}

function writeAlone(name: Parameters<typeof readWriteRequest>[0], reader: RequestReader, client: Client): ReplyBody {
  return inTransaction(client, (draft) => {
    const { path, stat } = write(readWriteRequest(name, reader), client, draft);
    return (writer) => {
      if (path !== undefined) writer.string(path);
      if (stat && name !== 'create') writer.stat(stat);
    };
  });
}

/** The path, echoed once this server has applied everything that was committed before. */
function synced(reader: RequestReader): ReplyBody {
  const path = reader.nullableString();
  return (writer) => writer.nullableString(path);
}

function answerAuth(xid: number, reader: RequestReader, client: Client): Answer {
  try {
    authenticate(reader, client);
    return { frame: replyFrame(xid, 0n, 0), zxid: 0n };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { frame: replyFrame(xid, 0n, error.code), zxid: 0n, isLast: true };
  }
}

/** Without SASL, a server answers with no token and leaves the rest to the client. */
function answerSasl(xid: number, reader: RequestReader): Answer {
  reader.nullableBuffer();
  return { frame: replyFrame(xid, 0n, 0, (writer) => writer.nullableBuffer(null)), zxid: 0n };
}

function answerClose(xid: number, { database, session }: Client): Answer {
  database.closeSession(session);
  return { frame: replyFrame(xid, database.zxid, 0), zxid: database.zxid, isLast: true };
}

/** {int type; ustring scheme; buffer auth}. @throws Refusal authFailed for anything but digest and ip */
function authenticate(reader: RequestReader, client: Client): void {
  reader.int();
  const scheme = reader.nullableString();
  const credentials = reader.nullableBuffer();
  // The address is known, whatever the credentials are.
  if (scheme === 'ip') return;
  if (scheme !== 'digest' || !credentials) throw new Refusal('authFailed');
  const id = digestOf(credentials.toString());
  if (id === client.rules.superDigest) client.prove({ scheme: 'super', id: '' });
  client.prove({ scheme, id });
}
