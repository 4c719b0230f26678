import { bytesField, intField, messageField } from './protobuf.js';

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

export function rangeRequest({ key, end = '', limit = 0, revision = 0, inOrderOf, only }: ReadOp): Buffer[] {
  return [
    bytesField(1, key),
    bytesField(2, end),
    intField(3, limit),
    intField(4, revision),
    ...(inOrderOf === 'creation' ? [intField(5, ASCENDING), intField(6, BY_CREATION)] : []),
    intField(8, only === 'keys'),
    intField(9, only === 'count'),
  ];
}

function putRequest({ key, value, lease = 0n }: PutOp): Buffer[] {
  const isSame = lease === 'same';
  return [bytesField(1, key), bytesField(2, value), isSame ? intField(6, true) : intField(3, lease)];
}

function deleteRequest({ key, end = '' }: DeleteOp): Buffer[] {
  return [bytesField(1, key), bytesField(2, end)];
}

export function txnRequest({ compare, success, failure }: Txn): Buffer[] {
  return [
    ...compare.map((one) => messageField(1, compareFields(one))),
    ...success.map((op) => messageField(2, [opField(op)])),
    ...failure.map((op) => messageField(3, [opField(op)])),
  ];
}

function opField(op: Op): Buffer {
  if (op.kind === 'read') return messageField(1, rangeRequest(op));
  if (op.kind === 'put') return messageField(2, putRequest(op));
  if (op.kind === 'delete') return messageField(3, deleteRequest(op));
  return messageField(4, txnRequest(op));
}

function compareFields({ key, end = '', property, is, than }: Compare): Buffer[] {
  const result = intField(1, RESULTS[is]);
  const target = intField(2, PROPERTIES[property]);
  return [result, target, bytesField(3, key), intField(NUMBERS[property], than), bytesField(64, end)];
}

/** @param ttl seconds after its last renewal at which the lease ends */
export function grantRequest(ttl: number): Buffer[] {
  return [intField(1, ttl)];
}

/** The request to renew a lease, or to end it. */
export function leaseRequest(lease: bigint): Buffer[] {
  return [intField(1, lease)];
}

export function authenticateRequest(name: string, password: string): Buffer[] {
  return [bytesField(1, name), bytesField(2, password)];
}

/** @param from first revision whose changes are sent; 0: from now on */
export function watchRequest(id: number, { key, end = '' }: KeyRange, from: number): Buffer[] {
  return [messageField(1, [bytesField(1, key), bytesField(2, end), intField(3, from), intField(7, id)])];
}

export function unwatchRequest(id: number): Buffer[] {
  return [messageField(2, [intField(1, id)])];
}
