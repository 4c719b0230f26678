/**
 * What the znode of an item holds, as Curator's `DistributedQueue` writes it: `00 01 00 01`; for each value `01`, its
 * length in four bytes and the value; then `02`. Curator reads no further. Behind it stands the item's id in UTF-8: after a
 * lost reply it tells whether the item was put.
 */
const VERSION = 0x00010001;
const VALUE = 1;
const END = 2;
const HEADER_BYTES = 4;
const LENGTH_BYTES = 4;

/** What was read from an item's znode. */
export interface ItemData {
  /** One; Curator's `putMulti` writes several. */
  readonly payloads: readonly Buffer[];
  /** Empty when somebody else has put the item. */
  readonly id: string;
}

export function itemData(payload: Buffer, id: string): Buffer {
  const head = Buffer.alloc(HEADER_BYTES + 1 + LENGTH_BYTES);
  head.writeInt32BE(VERSION, 0);
  head.writeInt8(VALUE, HEADER_BYTES);
  head.writeInt32BE(payload.length, HEADER_BYTES + 1);
  return Buffer.concat([head, payload, Buffer.of(END), Buffer.from(id)]);
}

/** `undefined` for what is not written in this way. */
export function readItemData(data: Buffer): ItemData | undefined {
  if (data.length < HEADER_BYTES || data.readInt32BE(0) !== VERSION) return undefined;
  const payloads: Buffer[] = [];
  for (let at = HEADER_BYTES; at < data.length;) {
    const mark = data[at];
    if (mark === END) return { payloads, id: data.toString('utf8', at + 1) };
    const begin = at + 1 + LENGTH_BYTES;
    if (mark !== VALUE || begin > data.length) return undefined;
    at = begin + data.readInt32BE(at + 1);
    if (at < begin || at > data.length) return undefined;
    payloads.push(data.subarray(begin, at));
  }
  return undefined;
}
