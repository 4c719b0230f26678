import type { LeaseMode } from './lease.js';

/** The owner of a contender, as far as it is known. For other kinds of clients every field may be missing. */
export interface ContenderOwner {
  /** The host name of its process. */
  readonly host?: string | undefined;
  /** The id of its process. */
  readonly pid?: number | undefined;
  /** The caller's `label`. For a decorated method `Class.method`, unless the decorator sets one. */
  readonly label?: string | undefined;
}

/** A holder of a key, or a caller that waits for it. */
export interface Contender {
  /** Whether it holds the key, or waits for it. */
  readonly state: 'held' | 'waiting';
  /** The mode in which it holds or requests the key. */
  readonly mode: LeaseMode;
  /** With mode `'permit'`: the number of permits that it holds or, where that is known, waits for. */
  readonly permits?: number | undefined;
  /** The process and the call that it belongs to. */
  readonly owner: ContenderOwner;
  /**
   * The time since which it holds or waits. Contenders known to the servers use the servers' clock, others this
   * process's clock.
   */
  readonly since: Date;
  /** Whether it belongs to this application's connection. */
  readonly isOwn: boolean;
  /** Whether it is a caller of this process that waits in memory behind the contender of another caller. */
  readonly isLocal: boolean;
  /** Whether the lease is warm: its process keeps it (`keepMs`) without using it, and releases it on request. */
  readonly isKept: boolean;
}

const MOST_NAMED = 3;
const MOST_CHARACTERS = 100;

/** The maximum number of holders that are requested for one key. */
export const MOST_HOLDERS = 20;

/** Returns the message text for a key that could not be acquired. */
export function lockedBy(holders: readonly Contender[]): string {
  return `is locked by ${holders.length === 0 ? 'somebody else' : holdersText(holders)}`;
}

/** Returns the holders of a key for messages: a few by name, and the number of the others. */
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

/** Sanitises text that other processes have written: it must not start a new log line, nor fill the log. */
function oneLine(text: string): string {
  const printable = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?');
  return printable.length > MOST_CHARACTERS ? `${printable.slice(0, MOST_CHARACTERS)}…` : printable;
}
