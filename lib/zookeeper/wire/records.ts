/** The records of ZooKeeper's protocol, and the frames that carry them. */
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

/** Larger than any reply that a server sends with the default jute.maxbuffer. A longer frame is not ZooKeeper's. */
const LARGEST_FRAME = 64 * 1024 * 1024;

const LENGTH_BYTES = 4;

/**
 * Splits a byte stream into length-prefixed frames, independently of chunk boundaries. There is one for each
 * connection.
 */
export class FrameSplitter {
  readonly #largestFrame: number;
  #chunks: Buffer[] = [];
  #length = 0;
  #needed = LENGTH_BYTES;

  constructor(largestFrame = LARGEST_FRAME) {
    this.#largestFrame = largestFrame;
  }

  /** Returns the frames (without their length) that `chunk` completes. @throws RangeError on an impossible length */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    // The chunks are joined only when a frame is complete. Otherwise a large frame in small chunks would be copied for
    // each chunk.
    if (this.#length < this.#needed) return [];
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    const frames: Buffer[] = [];
    let offset = 0;
    this.#needed = LENGTH_BYTES;
    while (offset + LENGTH_BYTES <= bytes.length) {
      const length = bytes.readInt32BE(offset);
      if (length < 0 || length > this.#largestFrame) {
        throw new RangeError(strangerIn(bytes.subarray(offset)) ?? `a frame of ${length} bytes`);
      }
      const end = offset + LENGTH_BYTES + length;
      this.#needed = end - offset;
      if (end > bytes.length) break;
      frames.push(bytes.subarray(offset + LENGTH_BYTES, end));
      offset = end;
      this.#needed = LENGTH_BYTES;
    }
    this.#chunks = offset < bytes.length ? [bytes.subarray(offset)] : [];
    this.#length = bytes.length - offset;
    return frames;
  }
}

const PRINTABLE = /^[\x20-\x7e]{4}$/;
const FIRST_TLS_RECORD = 0x14;
const LAST_TLS_RECORD = 0x17;
const TLS_VERSION = 3;

/** The explanation for bytes that are not from a ZooKeeper server, if the first ones show what they are. */
function strangerIn(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, LENGTH_BYTES);
  if (PRINTABLE.test(text)) return `the answer begins with "${text}": the port is not that of a ZooKeeper server`;
  const [type = 0, version] = bytes;
  const isTls = type >= FIRST_TLS_RECORD && type <= LAST_TLS_RECORD && version === TLS_VERSION;
  return isTls ? 'the server speaks TLS: set the tls option, or use its port without TLS' : undefined;
}
