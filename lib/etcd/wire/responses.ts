import { FieldReader } from './protobuf.js';

/** The state of the server that answered. */
export interface Header {
  /** The revision of the data that the answer is about. */
  readonly revision: number;
  /** The term of the leader that the server follows. It never falls. */
  readonly term: number;
}

/** A key with its value. */
export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision at which the key was created. */
  readonly created: number;
  /** The revision of the last write. */
  readonly modified: number;
  /** The number of writes since the key was created, from 1. */
  readonly version: number;
}

export interface ReadResult {
  readonly kind: 'read';
  readonly found: readonly KeyValue[];
  /** Whether there are more keys in the range than were asked for. */
  readonly hasMore: boolean;
  readonly count: number;
}

export interface TxnResult {
  readonly kind: 'txn';
  /** Whether all conditions were met. */
  readonly isMet: boolean;
  readonly results: readonly OpResult[];
}

export type OpResult = ReadResult | TxnResult | { readonly kind: 'put' } | { readonly kind: 'delete' };

export interface TxnResponse extends TxnResult, Header {}

export interface LeaseResponse extends Header {
  readonly lease: bigint;
  /** The seconds that the lease has. 0: it has ended. */
  readonly ttl: number;
}

/** A write or a deletion that a watch saw. */
export interface WatchEvent {
  readonly isDeleted: boolean;
  /** The key; for a deletion without value, and with the deletion's revision as `modified`. */
  readonly kv: KeyValue;
}

export interface WatchResponse extends Header {
  readonly id: number;
  readonly isCreated: boolean;
  readonly isCanceled: boolean;
  /** The first revision whose changes the server has, when the watch asked for earlier ones; else 0. */
  readonly compactRevision: number;
  readonly reason: string;
  readonly events: readonly WatchEvent[];
}

export interface StatusResponse extends Header {
  readonly version: string;
  /** The size of the database in bytes. */
  readonly size: number;
}

type Visit = (field: number, reader: FieldReader) => void;

/** Calls back for each field of a message. */
function visit(reader: FieldReader, each: Visit): void {
  for (let field = reader.next(); field !== 0; field = reader.next()) each(field, reader);
}

function readHeader(reader: FieldReader): Header {
  let revision = 0;
  let term = 0;
  visit(reader, (field) => {
    if (field === 3) revision = reader.number();
    if (field === 4) term = reader.number();
  });
  return { revision, term };
}

const NO_HEADER: Header = Object.freeze({ revision: 0, term: 0 });

/** Returns the header of an answer, which is its first field. */
function headed(bytes: Buffer, each: Visit): Header {
  let header = NO_HEADER;
  visit(new FieldReader(bytes), (field, reader) => {
    if (field === 1) header = readHeader(reader.message());
    else each(field, reader);
  });
  return header;
}

const NO_BYTES = Buffer.alloc(0);

function readKeyValue(reader: FieldReader): KeyValue {
  const kv = { key: '', value: NO_BYTES as Buffer, created: 0, modified: 0, version: 0 };
  visit(reader, (field) => {
    if (field === 1) kv.key = reader.text();
    else if (field === 2) kv.created = reader.number();
    else if (field === 3) kv.modified = reader.number();
    else if (field === 4) kv.version = reader.number();
    else if (field === 5) kv.value = reader.bytes();
  });
  return kv;
}

function readRead(reader: FieldReader): ReadResult {
  const found: KeyValue[] = [];
  let hasMore = false;
  let count = 0;
  visit(reader, (field) => {
    if (field === 2) found.push(readKeyValue(reader.message()));
    else if (field === 3) hasMore = reader.bool();
    else if (field === 4) count = reader.number();
  });
  return { kind: 'read', found, hasMore, count };
}

function readOp(reader: FieldReader): OpResult {
  let result: OpResult = { kind: 'put' };
  visit(reader, (field) => {
    if (field === 1) result = readRead(reader.message());
    else if (field === 3) result = { kind: 'delete' };
    else if (field === 4) result = readTxn(reader.message());
  });
  return result;
}

function readTxn(reader: FieldReader): TxnResponse {
  const results: OpResult[] = [];
  let header = NO_HEADER;
  let isMet = false;
  visit(reader, (field) => {
    if (field === 1) header = readHeader(reader.message());
    else if (field === 2) isMet = reader.bool();
    else if (field === 3) results.push(readOp(reader.message()));
  });
  return { kind: 'txn', isMet, results, revision: header.revision, term: header.term };
}

export function readTxnResponse(bytes: Buffer): TxnResponse {
  return readTxn(new FieldReader(bytes));
}

export function readRangeResponse(bytes: Buffer): ReadResult & Header {
  const header = headed(bytes, () => {});
  return { ...readRead(new FieldReader(bytes)), ...header };
}

export function readLeaseResponse(bytes: Buffer): LeaseResponse {
  let lease = 0n;
  let ttl = 0;
  const header = headed(bytes, (field, reader) => {
    if (field === 2) lease = reader.bigint();
    else if (field === 3) ttl = Number(reader.bigint());
  });
  return { lease, ttl, ...header };
}

export function readWatchResponse(bytes: Buffer): WatchResponse {
  const events: WatchEvent[] = [];
  const read = { id: 0, isCreated: false, isCanceled: false, compactRevision: 0, reason: '' };
  const header = headed(bytes, (field, reader) => {
    if (field === 2) read.id = Number(reader.bigint());
    else if (field === 3) read.isCreated = reader.bool();
    else if (field === 4) read.isCanceled = reader.bool();
    else if (field === 5) read.compactRevision = reader.number();
    else if (field === 6) read.reason = reader.text();
    else if (field === 11) events.push(readEvent(reader.message()));
  });
  return { ...read, events, ...header };
}

function readEvent(reader: FieldReader): WatchEvent {
  let isDeleted = false;
  let kv: KeyValue | undefined;
  visit(reader, (field) => {
    if (field === 1) isDeleted = reader.number() === 1;
    else if (field === 2) kv = readKeyValue(reader.message());
  });
  return { isDeleted, kv: kv ?? readKeyValue(new FieldReader(NO_BYTES)) };
}

export function readStatusResponse(bytes: Buffer): StatusResponse {
  let version = '';
  let size = 0;
  const header = headed(bytes, (field, reader) => {
    if (field === 2) version = reader.text();
    else if (field === 3) size = reader.number();
  });
  return { version, size, ...header };
}

/** Returns the token of an answer to the request to authenticate. */
export function readToken(bytes: Buffer): string {
  let token = '';
  headed(bytes, (field, reader) => {
    if (field === 2) token = reader.text();
  });
  return token;
}
