import { JuteWriter } from '../../../zookeeper/wire/jute.js';
import type { Acl, Stat } from '../../../zookeeper/wire/records.js';

const NULL_LENGTH = -1;

/** Writes the messages that servers send. */
export class ReplyWriter extends JuteWriter {
  nullableBuffer(value: Buffer | null): this {
    return value === null ? this.int(NULL_LENGTH) : this.buffer(value);
  }

  nullableString(value: string | null): this {
    return value === null ? this.int(NULL_LENGTH) : this.string(value);
  }

  strings(values: readonly string[]): this {
    return this.vector(values, (value) => this.string(value));
  }

  acl(entries: readonly Acl[]): this {
    return this.vector(entries, (entry) => this.int(entry.permissions).string(entry.scheme).string(entry.id));
  }

  stat(stat: Stat): this {
    this.long(stat.czxid).long(stat.mzxid).long(stat.ctime).long(stat.mtime);
    this.int(stat.version).int(stat.cversion).int(stat.aversion).long(stat.ephemeralOwner);
    return this.int(stat.dataLength).int(stat.numChildren).long(stat.pzxid);
  }
}

/** Writes the body of a reply. */
export type ReplyBody = (writer: ReplyWriter) => unknown;

const LENGTH_BYTES = 4;

/** Returns a message, preceded by its length. */
export function frame(write: ReplyBody): Buffer {
  const writer = new ReplyWriter().int(0);
  write(writer);
  const bytes = writer.toBuffer();
  bytes.writeInt32BE(bytes.length - LENGTH_BYTES, 0);
  return bytes;
}

/** {int xid; long zxid; int err} and the body, preceded by their length */
export function replyFrame(xid: number, zxid: bigint, error: number, body?: ReplyBody): Buffer {
  return frame((writer) => {
    writer.int(xid).long(zxid).int(error);
    body?.(writer);
  });
}

const NOTIFICATION_XID = -1;
const NO_ZXID = -1n;
const STATE_CONNECTED = 3;

/** {int type; int state; ustring path}, preceded by the header of a notification */
export function eventFrame(type: number, path: string): Buffer {
  return replyFrame(NOTIFICATION_XID, NO_ZXID, 0, (writer) => writer.int(type).int(STATE_CONNECTED).string(path));
}
