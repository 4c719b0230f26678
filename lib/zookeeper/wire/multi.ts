import { JuteReader, JuteWriter } from './jute.js';
import { OpCode } from './op-codes.js';
import { createRecord, anyVersionRecord, readStat } from './records.js';
import type { Acl } from './records.js';

/** One operation of a transaction: all are applied, or none. */
export type MultiOp =
  | { readonly type: 'check'; readonly path: string }
  | { readonly type: 'delete'; readonly path: string }
  | {
      readonly type: 'create' | 'createContainer';
      readonly path: string;
      readonly data: Buffer;
      readonly acl: readonly Acl[];
      readonly flags: number;
    };

/** What became of one operation: its error code (0 when applied), and the real path of a create. */
export interface MultiResult {
  readonly error: number;
  readonly path?: string;
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
  if ('data' in op) return createRecord(op.path, op.data, op.acl, op.flags);
  return anyVersionRecord(op.path);
}

function readApplied(type: number, reader: JuteReader): { path?: string } {
  if (type !== OpCode.create && type !== OpCode.create2) return {};
  const path = reader.string();
  if (type !== OpCode.create) readStat(reader);
  return { path };
}
