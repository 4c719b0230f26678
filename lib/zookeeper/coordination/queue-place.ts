/** Where the parts of a queue are, and what the names of its items tell. */
import { MOST_CREATES } from '../recipes/counter.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { ITEM_MARK, itemNumber } from '../session/contender-name.js';

export interface QueuePlace {
  /** The items. */
  readonly items: LockDirectory;
  /** Who has taken which item: a znode of the item's name each. */
  readonly claims: LockDirectory;
  /** The line of those who wait for an item. */
  readonly takers: LockDirectory;
  /** The line of those who put into a queue with a limit. */
  readonly putters: LockDirectory;
}

/** How the znodes of a queue are made. */
type Making = Omit<LockDirectory, 'path'>;

/**
 * A queue at a path of its own has all below it. One at a path that others may use as well has its items right there, as
 * Curator's `DistributedQueue`, whose consumers lock items below `<path>-claims` when that is their `lockPath`; they do not
 * make these two again once they are gone, so they stay.
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

/** The items among the children of a queue, in their order. */
export function itemsIn(names: readonly string[]): string[] {
  const isItem = (name: string) => itemNumber(name) !== undefined;
  return names.filter(isItem).sort((a, b) => (numberOf(a) - numberOf(b)) | 0);
}

/** Whether the numbers of the queue are about to be used up. */
export function isNumberEnding(name: string): boolean {
  const number = numberOf(name);
  return number > MOST_CREATES || number < 0;
}

function numberOf(name: string): number {
  return Number(name.slice(ITEM_MARK.length));
}

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
interface ItemData {
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
