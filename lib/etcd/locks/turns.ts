import type { Entry, EntryValue } from './entry.js';

/** Sorts entries in the order of their creation, in place. */
export function inOrder<T extends Pick<Entry, 'created' | 'key'>>(entries: T[]): T[] {
  return entries.sort((one, other) => one.created - other.created || (one.key < other.key ? -1 : 1));
}

/**
 * Returns the number of entries whose turn it is: the first ones. No entry overtakes another.
 * @param entries all entries of a wait queue, in their order
 * @param number the recorded number of permits, if there is one
 */
export function turnsOf(entries: Iterable<EntryValue>, number: number | undefined): number {
  let turns = 0;
  let permits = 0;
  let isShared = true;
  for (const entry of entries) {
    permits += entry.permits;
    const isTurn =
      entry.mode === 'permit' ? permits <= (number ?? entry.most) : turns === 0 || (isShared && entry.mode === 'read');
    if (!isTurn) return turns;
    turns++;
    isShared = entry.mode === 'read';
  }
  return turns;
}
