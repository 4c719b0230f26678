import { errorName } from '../../../lib/zookeeper/wire/codes.js';
import { XID } from '../wire/op.js';
import { RecordReader } from '../wire/record-reader.js';
import type { Request } from '../wire/request.js';
import { quoted } from '../wire/told.js';
import type { Names } from './names.js';

const EVENTS: Readonly<Record<number, string>> = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'children' };

export interface Reply {
  readonly xid: number;
  readonly zxid: bigint;
  readonly error: number;
  /** The path of a created node. */
  readonly path?: string;
  readonly text: string;
}

export const isEvent = (frame: Buffer): boolean => frame.length >= 4 && frame.readInt32BE(0) === XID.notification;

/** {int xid; long zxid; int err}, then {int type; int state; ustring path} */
export function eventText(frame: Buffer, names: Names): string {
  const reader = new RecordReader(frame);
  reader.int();
  const [zxid, error] = [names.zxid(reader.long()), reader.int()];
  const [type, state, path] = [reader.int(), reader.int(), reader.string()];
  const odd = zxid === '-1' && error === 0 && state === 3 && reader.left === 0 ? '' : ' with an odd header';
  return `event ${EVENTS[type] ?? type} ${quoted(path)}${odd}`;
}

/** {int xid; long zxid; int err}, then the body of a reply to the request */
export function readReply(frame: Buffer, request: Request | undefined, names: Names): Reply {
  const reader = new RecordReader(frame);
  const [xid, zxid, error] = [reader.int(), reader.long(), reader.int()];
  const body = error === 0 && request ? telling(() => request.tell(reader, names)) : '';
  const more = reader.left > 0 ? `and ${reader.left} bytes more: ${reader.rest().toString('hex')}` : '';
  const outcome = error === 0 ? 'ok' : `${errorName(error)}(${error})`;
  const text = [`#${xid} ${outcome} zxid=${names.zxid(zxid)}`, body, more].filter((part) => part !== '').join(' ');
  const path = /^"(.*?)"/.exec(body)?.[1];
  return { xid, zxid, error, text, ...(path !== undefined && { path }) };
}

function telling(tell: () => string): string {
  try {
    return tell();
  } catch (error) {
    return `unreadable: ${String(error)}`;
  }
}
