import { Fields } from './fields.js';
import { Op } from './op.js';
import { nothing } from './request.js';
import type { Request } from './request.js';
import { quoted, told } from './told.js';

/** The watches that a client registers again. `since` is the last transaction that it has seen. */
export interface KnownWatches {
  readonly data?: readonly string[];
  readonly exist?: readonly string[];
  readonly child?: readonly string[];
  readonly persistent?: readonly string[];
  readonly recursive?: readonly string[];
}

/** @param told the text for `since` in a transcript */
export function setWatches(since: bigint, told: string, known: KnownWatches, xid?: number): Request {
  const { data = [], exist = [], child = [] } = known;
  return {
    type: Op.setWatches,
    text: `setWatches since ${told} ${JSON.stringify(known)}${xid === undefined ? '' : ` xid=${xid}`}`,
    body: new Fields().long(since).strings(data).strings(exist).strings(child).toBuffer(),
    tell: nothing,
    ...(xid !== undefined && { xid }),
  };
}

export function setWatches2(since: bigint, told: string, known: KnownWatches): Request {
  const { persistent = [], recursive = [] } = known;
  const { text, body } = setWatches(since, told, known);
  return {
    type: Op.setWatches2,
    text: text.replace('setWatches', 'setWatches2'),
    body: new Fields().raw(body).strings(persistent).strings(recursive).toBuffer(),
    tell: nothing,
  };
}

/** Mode 0: persistent. Mode 1: persistent and recursive. */
export const addWatch = (path: string | null, mode: number): Request => ({
  type: Op.addWatch,
  text: `addWatch ${quoted(path)} mode=${mode}`,
  body: new Fields().string(path).int(mode).toBuffer(),
  tell: told.int,
});

/** Type 1: children. Type 2: data. Type 3: any. */
export const checkWatches = (path: string | null, type: number): Request =>
  ofType('checkWatches', Op.checkWatches, path, type);

export const removeWatches = (path: string | null, type: number): Request =>
  ofType('removeWatches', Op.removeWatches, path, type);

function ofType(name: string, type: number, path: string | null, watcherType: number): Request {
  return {
    type,
    text: `${name} ${quoted(path)} type=${watcherType}`,
    body: new Fields().string(path).int(watcherType).toBuffer(),
    tell: nothing,
  };
}
