import { hostname } from 'node:os';
import type { LeaseMode } from '../../contract/lease.js';
import type { KeyValue } from '../wire/responses.js';

/** A place in a wait queue, as its value is stored. */
export interface EntryValue {
  readonly mode: LeaseMode;
  readonly permits: number;
  /** The number of permits there are, while none is recorded. */
  readonly most: number;
  /** The key whose number of permits is recorded, if it is another one than that of the queue. */
  readonly counted?: string | undefined;
  /** The time since which it waits, by its own process's clock. */
  readonly since: number;
  /** Whether its process may keep it without using it (`keepMs`). */
  readonly keeps?: boolean | undefined;
  readonly label?: string | undefined;
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** Whether its holder is asked to release. */
  readonly isRevoked?: boolean | undefined;
  /** The value that a leader proclaims. */
  readonly proclaimed?: string | undefined;
  /** Whether only `proclaimed` is stored. */
  readonly isBare?: boolean | undefined;
}

/** A place in a wait queue. */
export interface Entry extends EntryValue {
  /** Its key. */
  readonly key: string;
  /** The revision of its creation: its place in the queue, and its token. */
  readonly created: number;
  readonly modified: number;
}

const host = hostname();

/** The parts of an entry that a request brings. */
export type NewEntry = Pick<
  EntryValue,
  'mode' | 'permits' | 'most' | 'counted' | 'keeps' | 'label' | 'proclaimed' | 'isBare'
>;

/** Returns the value of a new entry of this process. */
export function newEntry(entry: NewEntry): EntryValue {
  return { ...entry, since: Date.now(), host, pid: process.pid };
}

export function entryText(entry: EntryValue): string {
  const { mode, permits, most, counted, since, label, pid, isRevoked, proclaimed } = entry;
  const keeps = entry.keeps || undefined;
  if (entry.isBare) return proclaimed ?? '';
  return JSON.stringify({
    mode,
    ...(mode === 'permit' && { permits, most, counted }),
    since,
    keeps,
    label,
    host: entry.host,
    pid,
    isRevoked,
    proclaimed,
  });
}

/**
 * Returns the entry of a key. Another client's entry that cannot be read excludes all others.
 * @param isBare whether the value is what a candidate proclaims, and nothing else
 */
export function entryOf({ key, value, created, modified }: KeyValue, isBare = false): Entry {
  const text = value.toString();
  const read = isBare ? { isBare, proclaimed: text } : valueOf(text);
  return { mode: 'exclusive', permits: 1, most: 1, since: Number.NaN, ...read, key, created, modified };
}

function valueOf(text: string): Partial<EntryValue> {
  try {
    return JSON.parse(text) as Partial<EntryValue>;
  } catch {
    return {};
  }
}

/** Whether an entry belongs to a session. @param session id of the session */
export function isOf(entry: Pick<Entry, 'key'>, session: string): boolean {
  return nameOf(entry).startsWith(`${session}-`);
}

/** Whether an entry is that of another kind of client, which has one entry for each of its leases. */
export function isForeign(entry: Pick<Entry, 'key'>): boolean {
  return !nameOf(entry).includes('-');
}

/** The last part of an entry's key. It begins with the id of the lease. */
export function nameOf({ key }: Pick<Entry, 'key'>): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

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
