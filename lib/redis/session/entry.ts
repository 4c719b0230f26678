import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ContenderOwner } from '../../contract/contender.js';
import type { LeaseMode } from '../../contract/lease.js';

/** The modes of entries, as scripts know them. */
const MODES = { exclusive: 'x', write: 'w', read: 'r', permit: 'p' } as const satisfies Record<LeaseMode, string>;
const LEADER = 'l';

/** A place in a wait queue, as it is stored. */
export interface Entry {
  readonly mode: LeaseMode;
  /** Whether it is a candidate's. */
  readonly isCandidate?: boolean | undefined;
  readonly session: string;
  /** Differs for all entries of a session. */
  readonly number: number;
  readonly permits: number;
  /** The number of permits there are, while none is recorded. */
  readonly most: number;
  /** The time since which it waits, by the server's clock. */
  readonly since: number;
  /** Whether its process may keep it without using it (`keepMs`). */
  readonly keeps?: boolean | undefined;
  readonly label: string | undefined;
}

/** Follows the time of an entry that may be kept. */
const KEEPS = 'k';

/** Returns an id for a new session, which names its process. */
export function newSessionId(): string {
  return `${randomUUID().slice(0, 13)}.${process.pid}.${encodeURIComponent(hostname())}`;
}

/** Returns the owner of the entries of a session. */
export function ownerOf(session: string, label: string | undefined): ContenderOwner {
  const [, pid, ...host] = session.split('.');
  return { host: decodeURIComponent(host.join('.')), pid: Number(pid), label };
}

export function entryText(entry: Entry): string {
  const { mode, isCandidate, session, number, permits, most, since, keeps, label = '' } = entry;
  const time = keeps ? since + KEEPS : since;
  return `${isCandidate ? LEADER : MODES[mode]}|${session}|${number}|${permits}|${most}|${time}|${label}`;
}

export function parseEntry(text: string): Omit<Entry, 'keeps'> {
  const [letter = '', session = '', number, permits, most, since, ...label] = text.split('|');
  const found = Object.entries(MODES).find(([, known]) => known === letter);
  return {
    mode: (found?.[0] ?? 'exclusive') as LeaseMode,
    isCandidate: letter === LEADER,
    session,
    number: Number(number),
    permits: Number(permits),
    most: Number(most),
    // A k may follow the digits.
    since: Number.parseInt(since ?? ''),
    label: label.join('|') || undefined,
  };
}

const TICK_US = 32;

/** Returns the time of a grant, by the server's clock. A token counts ticks of that clock. */
export function grantedAt(token: string): Date {
  return new Date((Number(token) * TICK_US) / 1_000);
}

/** Returns the token of a grant at a time of the server's clock. */
export function ticksAt(serverTime: number): bigint {
  return BigInt(Math.floor((serverTime * 1_000) / TICK_US));
}
