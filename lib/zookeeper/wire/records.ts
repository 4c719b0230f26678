import { JuteReader, JuteWriter } from './jute.js';

/** An entry of an access list of a znode. `permissions` is a sum of READ 1, WRITE 2, CREATE 4, DELETE 8, ADMIN 16. */
export interface Acl {
  /** The sum of the permissions. */
  readonly permissions: number;
  /** For example `'world'`, `'digest'`, `'auth'` or `'ip'`. */
  readonly scheme: string;
  /** For `world`: `'anyone'`. For `digest`: `user:` and the digest, not the password. For `auth`: the empty string. */
  readonly id: string;
}

/** ZooKeeper's metadata of a znode. Times are in milliseconds of the leader's clock. */
export interface Stat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly ctime: bigint;
  readonly mtime: bigint;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: bigint;
}

export interface ReplyHeader {
  readonly xid: number;
  readonly zxid: bigint;
  readonly error: number;
}

export const REPLY_HEADER_BYTES = 16;

/** {ustring path; buffer data; vector<ACL> acl; int flags}: create, create2, createContainer */
export function createRecord(path: string, data: Buffer, acl: readonly Acl[], flags: number): Buffer {
  const writer = new JuteWriter().string(path).buffer(data);
  writer.vector(acl, (entry) => writer.int(entry.permissions).string(entry.scheme).string(entry.id));
  return writer.int(flags).toBuffer();
}

const ANY_VERSION = -1;

/** {ustring path; int version}: delete, check; of any version unless one is given */
export function versionRecord(path: string, version = ANY_VERSION): Buffer {
  return new JuteWriter().string(path).int(version).toBuffer();
}

/** {ustring path; buffer data; int version}: setData; of any version unless one is given */
export function setDataRecord(path: string, data: Buffer, version = ANY_VERSION): Buffer {
  return new JuteWriter().string(path).buffer(data).int(version).toBuffer();
}

/** {ustring path; bool watch}: getData, getChildren2 */
export function pathWatchRecord(path: string, watch: boolean): Buffer {
  return new JuteWriter().string(path).bool(watch).toBuffer();
}

/** {ustring path}: sync */
export function pathRecord(path: string): Buffer {
  return new JuteWriter().string(path).toBuffer();
}

/** {ustring path; int type}: removeWatches; type 1 children, 2 data, 3 any */
export function removeWatchesRecord(path: string, type: number): Buffer {
  return new JuteWriter().string(path).int(type).toBuffer();
}

/** {long relativeZxid; vector<ustring> data; vector<ustring> exist; vector<ustring> child}; the latter two by kind */
export function setWatchesRecord(relativeZxid: bigint, paths: readonly string[], kind: 'data' | 'children'): Buffer {
  const writer = new JuteWriter().long(relativeZxid);
  const [data, children] = kind === 'data' ? [paths, []] : [[], paths];
  return writer
    .vector(data, (path) => writer.string(path))
    .int(0)
    .vector(children, (path) => writer.string(path))
    .toBuffer();
}

/** {int xid; int type} body, behind an int32 with the length of both */
export function requestFrame(xid: number, type: number, body: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(12 + body.length);
  frame.writeInt32BE(8 + body.length, 0);
  frame.writeInt32BE(xid, 4);
  frame.writeInt32BE(type, 8);
  body.copy(frame, 12);
  return frame;
}

/** {int xid; long zxid; int err} */
export function readReplyHeader(frame: Buffer): ReplyHeader {
  return { xid: frame.readInt32BE(0), zxid: frame.readBigInt64BE(4), error: frame.readInt32BE(12) };
}

/** {long czxid, mzxid, ctime, mtime; int version, cversion, aversion; long ephemeralOwner; int dataLength,
 * numChildren; long pzxid} */
export function readStat(reader: JuteReader): Stat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.long(),
    mtime: reader.long(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}

/** {int type; int state; ustring path} */
export function readWatcherEvent(reader: JuteReader): { readonly type: number; readonly path: string } {
  const type = reader.int();
  reader.int();
  return { type, path: reader.string() };
}
