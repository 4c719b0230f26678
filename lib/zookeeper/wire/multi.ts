import { ErrorCode, OpCode } from './codes.js';
import { JuteReader, JuteWriter } from './jute.js';
import { createRecord, readStat, setDataRecord, versionRecord } from './records.js';
import type { Acl, Stat } from './records.js';

/** One operation of a transaction. Either all operations are applied, or none. */
export type MultiOp =
  | {
      readonly type: 'check' | 'delete';
      readonly path: string;
      /** The version that the znode's data must have. Any version if it is not given. */
      readonly version?: number | undefined;
    }
  | {
      readonly type: 'setData';
      readonly path: string;
      readonly data: Buffer;
      readonly version?: number | undefined;
    }
  | {
      readonly type: 'create' | 'create2' | 'createContainer';
      readonly path: string;
      readonly data: Buffer;
      readonly acl: readonly Acl[];
      readonly flags: number;
    };

/** The result of one operation: its error code (0 when applied), the actual path of a created znode, and its stat. */
export interface MultiResult {
  readonly error: number;
  readonly path?: string;
  /** Only for `create2`, `createContainer` and `setData`. */
  readonly stat?: Stat;
}

const ERROR_RESULT = -1;

/** {int type; bool done; int err} and the operation's record, repeated; then {-1, true, -1} */
export function multiRecord(ops: readonly MultiOp[]): Buffer {
  const writer = new JuteWriter();
  for (const op of ops) writer.int(OpCode[op.type]).bool(false).int(-1).raw(opRecord(op));
  return writer.int(-1).bool(true).int(-1).toBuffer();
}

export function readMultiResults(reader: JuteReader): MultiResult[] {
  const results: MultiResult[] = [];
  for (;;) {
    const type = reader.int();
    const isEnd = reader.bool();
    const error = reader.int();
    if (isEnd) return results;
    results.push(type === ERROR_RESULT ? { error: reader.int() } : { error, ...readApplied(type, reader) });
  }
}

function opRecord(op: MultiOp): Buffer {
  if (op.type === 'setData') return setDataRecord(op.path, op.data, op.version);
  if ('data' in op) return createRecord(op.path, op.data, op.acl, op.flags);
  return versionRecord(op.path, op.version);
}

function readApplied(type: number, reader: JuteReader): Omit<MultiResult, 'error'> {
  switch (type) {
    case OpCode.create:
      return { path: reader.string() };
    case OpCode.create2:
      return { path: reader.string(), stat: readStat(reader) };
    case OpCode.setData:
      return { stat: readStat(reader) };
    default:
      return {};
  }
}

/**
 * The index of the operation that made its transaction fail, or -1 if the transaction was applied. The results of the
 * others only say that another operation failed.
 */
export function refusedAt(results: readonly MultiResult[]): number {
  return results.findIndex(({ error }) => error !== ErrorCode.ok && error !== ErrorCode.runtimeInconsistency);
}
