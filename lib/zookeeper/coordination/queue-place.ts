/** The paths of the parts of a queue, and the meaning of its item names. */
import type { LockDirectory } from '../recipes/lock-directory.js';
import { ITEM_MARK, itemNumber, MOST_CREATES } from '../recipes/contender-znode.js';

export interface QueuePlace {
  /** The items. */
  readonly items: LockDirectory;
  /** The claims: for each claimed item a znode of the item's name. */
  readonly claims: LockDirectory;
  /** The wait queue of the callers that wait for an item. */
  readonly takers: LockDirectory;
  /** The wait queue of the callers that put into a queue with a limit. */
  readonly putters: LockDirectory;
}

/** The settings with which the znodes of a queue are created. */
type Making = Omit<LockDirectory, 'path'>;

/**
 * Returns the parts of a queue. A queue at a path of its own has all of them below it. A queue at a path that others
 * may use as well has its items directly below the path, as Curator's `DistributedQueue` has.
 * Curator's consumers lock items below `<path>-claims` when that is their `lockPath`. They do not create the
 * directories of items and claims again once these are deleted, so both are persistent.
 */
export function queuePlace(path: string, isShared: boolean, making: Making): QueuePlace {
  const part = (name: string): LockDirectory => ({ ...making, path: isShared ? `${path}-${name}` : `${path}/${name}` });
  const stays = (directory: LockDirectory): LockDirectory =>
    isShared ? { ...directory, parents: 'persistent' } : directory;
  return {
    items: stays(isShared ? { ...making, path } : part('items')),
    claims: stays(part('claims')),
    takers: part('takers'),
    putters: part('putters'),
  };
}

/** Returns the items among the children of a queue, in their order. */
export function itemsIn(names: readonly string[]): string[] {
  const isItem = (name: string) => itemNumber(name) !== undefined;
  return names.filter(isItem).sort((a, b) => (numberOf(a) - numberOf(b)) | 0);
}

/** Whether the sequence numbers of the queue are nearly used up. */
export function isNumberEnding(name: string): boolean {
  const number = numberOf(name);
  return number > MOST_CREATES || number < 0;
}

function numberOf(name: string): number {
  return Number(name.slice(ITEM_MARK.length));
}

/**
 * The data of an item's znode, as Curator's `DistributedQueue` writes it: `00 01 00 01`, then the values, then `02`.
 * Each value is `01`, its length in four bytes, and its bytes.
 * Curator reads no further. After that is the item's id in UTF-8. It shows after a lost reply whether the item was put.
 */
const VERSION = 0x00010001;
const VALUE = 1;
const END = 2;
const HEADER_BYTES = 4;
const LENGTH_BYTES = 4;

/** The content of an item's znode. */
interface ItemData {
  /** One value, or several if Curator's `putMulti` wrote the item. */
  readonly payloads: readonly Buffer[];
  /** Empty if another client has put the item. */
  readonly id: string;
}

export function itemData(payload: Buffer, id: string): Buffer {
  const head = Buffer.alloc(HEADER_BYTES + 1 + LENGTH_BYTES);
  head.writeInt32BE(VERSION, 0);
  head.writeInt8(VALUE, HEADER_BYTES);
  head.writeInt32BE(payload.length, HEADER_BYTES + 1);
  return Buffer.concat([head, payload, Buffer.of(END), Buffer.from(id)]);
}

/** Parses an item's data. Returns `undefined` for data in another format. */
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
