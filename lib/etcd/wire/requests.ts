import { FieldWriter } from './protobuf.js';

/** A key, or all keys from it up to `end`, which is not one of them. */
export interface KeyRange {
  readonly key: string;
  readonly end?: string | undefined;
}

/** A condition of a transaction. For a range it must be true of every key in it, so it is true of an empty one. */
export interface Compare extends KeyRange {
  /** The property: 0 for the revisions of a key that does not exist. */
  readonly property: 'version' | 'created' | 'modified';
  readonly is: 'equal' | 'less';
  readonly than: number;
}

/** A read of one key or several. Without `isLocal`, a majority confirms that the server is up to date. */
export interface ReadOp extends KeyRange {
  readonly kind: 'read';
  readonly limit?: number;
  /** The revision to read at. Default: the present one. */
  readonly revision?: number;
  readonly inOrderOf?: 'creation';
  readonly only?: 'keys' | 'count';
}

export interface PutOp {
  readonly kind: 'put';
  readonly key: string;
  readonly value: Buffer | string;
  /** The lease with which the key ends. `'same'`: as before; the key must exist. Default: none. */
  readonly lease?: bigint | 'same' | undefined;
}

export interface DeleteOp extends KeyRange {
  readonly kind: 'delete';
}

export interface Txn {
  readonly compare: readonly Compare[];
  readonly success: readonly Op[];
  readonly failure: readonly Op[];
}

/** A transaction inside another one. All conditions are looked at before anything is applied. */
export interface TxnOp extends Txn {
  readonly kind: 'txn';
}

export type Op = ReadOp | PutOp | DeleteOp | TxnOp;

const PROPERTIES = { version: 0, created: 1, modified: 2 } as const;
/** The fields of the numbers to compare with. */
const NUMBERS = { version: 4, created: 5, modified: 6 } as const;
const RESULTS = { equal: 0, less: 2 } as const;
const ASCENDING = 1;
const BY_CREATION = 2;

/** Returns a message. @param write writes its fields */
function messageOf(write: (writer: FieldWriter) => void): Buffer {
  const writer = new FieldWriter();
  write(writer);
  return writer.written;
}

export function rangeRequest(read: ReadOp): Buffer {
  return messageOf((writer) => writeRead(writer, read));
}

export function txnRequest(txn: Txn): Buffer {
  return messageOf((writer) => writeTxn(writer, txn));
}

function writeTxn(writer: FieldWriter, { compare, success, failure }: Txn): void {
  for (const one of compare) writer.message(1, () => writeCompare(writer, one));
  for (const op of success) writer.message(2, () => writeOp(writer, op));
  for (const op of failure) writer.message(3, () => writeOp(writer, op));
}

function writeCompare(writer: FieldWriter, { key, end = '', property, is, than }: Compare): void {
  writer.number(1, RESULTS[is]);
  writer.number(2, PROPERTIES[property]);
  writer.bytes(3, key);
  writer.number(NUMBERS[property], than);
  writer.bytes(64, end);
}

function writeOp(writer: FieldWriter, op: Op): void {
  if (op.kind === 'read') writer.message(1, () => writeRead(writer, op));
  else if (op.kind === 'put') writer.message(2, () => writePut(writer, op));
  else if (op.kind === 'delete') writer.message(3, () => writeRange(writer, op));
  else writer.message(4, () => writeTxn(writer, op));
}

function writeRead(writer: FieldWriter, read: ReadOp): void {
  const { limit = 0, revision = 0, inOrderOf, only } = read;
  writeRange(writer, read);
  writer.number(3, limit);
  writer.number(4, revision);
  if (inOrderOf === 'creation') {
    writer.number(5, ASCENDING);
    writer.number(6, BY_CREATION);
  }
  writer.number(8, only === 'keys');
  writer.number(9, only === 'count');
}

function writePut(writer: FieldWriter, { key, value, lease = 0n }: PutOp): void {
  writer.bytes(1, key);
  writer.bytes(2, value);
  if (lease === 'same') writer.number(6, true);
  else writer.number(3, lease);
}

function writeRange(writer: FieldWriter, { key, end = '' }: KeyRange): void {
  writer.bytes(1, key);
  writer.bytes(2, end);
}

/** @param ttl seconds after its last renewal at which the lease ends */
export function grantRequest(ttl: number): Buffer {
  return messageOf((writer) => writer.number(1, ttl));
}

/** The request to renew a lease, or to end it. */
export function leaseRequest(lease: bigint): Buffer {
  return messageOf((writer) => writer.number(1, lease));
}

export function authenticateRequest(name: string, password: string): Buffer {
  return messageOf((writer) => {
    writer.bytes(1, name);
    writer.bytes(2, password);
  });
}

/** @param from first revision whose changes are sent; 0: from now on */
export function watchRequest(id: number, range: KeyRange, from: number): Buffer {
  return messageOf((writer) =>
    writer.message(1, () => {
      writeRange(writer, range);
      writer.number(3, from);
      writer.number(7, id);
    }),
  );
}

export function unwatchRequest(id: number): Buffer {
  return messageOf((writer) => writer.message(2, () => writer.number(1, id)));
}
