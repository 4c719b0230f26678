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
