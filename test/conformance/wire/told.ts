import type { Names } from '../stage/names.js';
import type { RecordReader } from './record-reader.js';
import type { Tell } from './request.js';

const LONGEST_TOLD = 80;

export const told = {
  path: (body) => quoted(body.string()),
  pathAndStat: (body, names) => `${quoted(body.string())} ${stat(body, names)}`,
  stat: (body, names) => stat(body, names),
  dataAndStat: (body, names) => `${bytes(body.buffer())} ${stat(body, names)}`,
  children: (body) => children(body),
  childrenAndStat: (body, names) => `${children(body)} ${stat(body, names)}`,
  aclAndStat: (body, names) => `${acl(body)} ${stat(body, names)}`,
  int: (body) => String(body.int()),
  /** A client's identities are a set as well, so they are sorted. */
  identities: (body) =>
    `[${body
      .vector(() => `${body.string()}:${body.string()}`)
      ?.sort()
      .join(', ')}]`,
} satisfies Record<string, Tell>;

export function bytes(value: Buffer | null): string {
  if (value === null) return 'null';
  return value.length > LONGEST_TOLD ? `<${value.length} bytes>` : quoted(value.toString());
}

export function quoted(value: string | null): string {
  if (value === null) return 'null';
  return value.length > LONGEST_TOLD ? `<${value.length} characters>` : JSON.stringify(value);
}

/** Servers keep children in a set, so their order has no meaning. */
function children(body: RecordReader): string {
  const names = body.vector(() => body.string());
  return names === null ? 'null' : `[${names.map(quoted).sort().join(' ')}]`;
}

function acl(body: RecordReader): string {
  const entries = body.vector(() => ({ permissions: body.int(), scheme: body.string(), id: body.string() }));
  if (entries === null) return 'null';
  return `[${entries.map((one) => `${one.scheme}:${one.id}:${one.permissions}`).join(', ')}]`;
}

function stat(body: RecordReader, names: Names): string {
  const [czxid, mzxid] = [names.zxid(body.long()), names.zxid(body.long())];
  const [ctime, mtime] = [names.time(body.long()), names.time(body.long())];
  const [version, cversion, aversion] = [body.int(), body.int(), body.int()];
  const owner = names.session(body.long());
  const [dataLength, numChildren] = [body.int(), body.int()];
  const pzxid = names.zxid(body.long());
  const versions = `v=${version} cv=${cversion} av=${aversion}`;
  return `{c=${czxid}@${ctime} m=${mzxid}@${mtime} p=${pzxid} ${versions} owner=${owner} length=${dataLength} children=${numChildren}}`;
}
