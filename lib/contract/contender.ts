import type { LeaseMode } from './lease.js';

/** Who stands there, as far as is known; of clients of other kinds nothing may be. */
export interface ContenderOwner {
  readonly host?: string | undefined;
  readonly pid?: number | undefined;
  /** What the caller gave as `label`; of a decorated method `Class.method` unless it says. */
  readonly label?: string | undefined;
}

/** Somebody who holds a key or waits for it. */
export interface Contender {
  readonly state: 'held' | 'waiting';
  readonly mode: LeaseMode;
  /** Of mode `'permit'`: how many permits it holds or, where that is known, waits for. */
  readonly permits?: number | undefined;
  readonly owner: ContenderOwner;
  /** Since when it stands there: of those that the servers know by their clock, of the others by this process's. */
  readonly since: Date;
  /** Whether it belongs to this application's connection. */
  readonly isOwn: boolean;
  /** Whether it is a caller of this process who stands behind another one's contender, in memory. */
  readonly isLocal: boolean;
  /** Whether its process only keeps the key, without using it (`keepMs`), and gives it up when asked. */
  readonly isKept: boolean;
}

const MOST_NAMED = 3;
const MOST_CHARACTERS = 100;

/** At most so many holders of a key are asked for. */
export const MOST_HOLDERS = 20;

/** Why a key could not be had, for messages. */
export function lockedBy(holders: readonly Contender[]): string {
  return `is locked by ${holders.length === 0 ? 'somebody else' : holdersText(holders)}`;
}

/** The holders of a key, for messages: a few by name, of the others how many they are. */
export function holdersText(holders: readonly Contender[]): string {
  const named = holders.slice(0, MOST_NAMED).map(holderText).join(', ');
  const more = holders.length - MOST_NAMED;
  if (more <= 0) return named;
  return `${named} and ${holders.length < MOST_HOLDERS ? more : `at least ${more}`} more`;
}

function holderText({ mode, permits, owner, since, isOwn, isKept }: Contender): string {
  const { label, host, pid } = owner;
  const place = isOwn
    ? 'this process'
    : [host && `host ${host}`, pid !== undefined && `pid ${pid}`].filter(Boolean).join(', ');
  const what = [
    place,
    mode === 'read' && 'reads',
    mode === 'permit' && permits !== undefined && `${permits} ${permits === 1 ? 'permit' : 'permits'}`,
    isKept && 'keeps it without using it',
  ];
  const details = what.filter(Boolean).join(', ');
  const name = label ?? (place === '' ? 'a client that does not say its name' : 'a caller without a label');
  return (
    oneLine(`${name}${details === '' ? '' : ` (${details})`}`) +
    (Number.isNaN(since.getTime()) ? '' : ` since ${since.toISOString()}`)
  );
}

/** What other processes have written must not begin another line of a log, nor fill it. */
function oneLine(text: string): string {
  const printable = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?');
  return printable.length > MOST_CHARACTERS ? `${printable.slice(0, MOST_CHARACTERS)}…` : printable;
}
