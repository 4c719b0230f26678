import type { Names } from '../stage/names.js';
import { Fields } from './fields.js';
import { Op } from './op.js';
import type { RecordReader } from './record-reader.js';
import type { Request, Tell } from './request.js';
import { told } from './told.js';

export const multi = (ops: readonly Request[]): Request => transaction('multi', Op.multi, ops);

export const multiRead = (ops: readonly Request[]): Request => transaction('multiRead', Op.multiRead, ops);

/** {int type; bool done; int err} and the operation's record, repeated; then {-1, true, -1} */
function transaction(name: string, type: number, ops: readonly Request[]): Request {
  const fields = new Fields();
  for (const op of ops) fields.int(op.type).bool(false).int(-1).raw(op.body);
  return {
    type,
    text: `${name} (${ops.map(({ text }) => text).join('; ')})`,
    body: fields.int(-1).bool(true).int(-1).toBuffer(),
    tell: results,
  };
}

/** The type of each result determines its content. It is not always the type of the operation. */
const RESULTS: Readonly<Record<number, Tell>> = {
  [Op.create]: told.path,
  [Op.create2]: told.pathAndStat,
  [Op.setData]: told.stat,
  [Op.getData]: told.dataAndStat,
  [Op.getChildren]: told.children,
  [Op.error]: told.int,
};

function results(body: RecordReader, names: Names): string {
  const lines: string[] = [];
  for (;;) {
    const [type, isEnd, error] = [body.int(), body.bool(), body.int()];
    if (isEnd) return `${lines.join('; ')} end(${type} ${error})`;
    const value = RESULTS[type]?.(body, names) ?? '';
    lines.push(`(${type} ${error}${value && ` ${value}`})`);
  }
}
