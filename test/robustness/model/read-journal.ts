import type { Attempt, FinalAcquisition, Hold, WriteAnswer } from './history.js';
import type { JournalEntry } from './journal-entry.js';

/** The history of one process, assembled from its journal. */
export interface ProcessHistory {
  readonly holds: readonly Hold[];
  readonly attempts: readonly Attempt[];
  readonly answers: readonly WriteAnswer[];
  readonly finals: readonly FinalAcquisition[];
  readonly warnings: readonly string[];
}

/** @param text lines of JSON; the last one may be incomplete if the process was killed */
export function readJournal(process: string, text: string): ProcessHistory {
  return readEntries(process, entriesOf(text));
}

export function readEntries(process: string, entries: readonly JournalEntry[]): ProcessHistory {
  const holds = new Map<string, Hold>();
  const attempts = new Map<string, Attempt>();
  const answers: WriteAnswer[] = [];
  const finals: FinalAcquisition[] = [];
  const warnings: string[] = [];
  for (const entry of entries) {
    switch (entry.what) {
      case 'asked':
        attempts.set(entry.id, { ...entry, process, askedAt: entry.at });
        break;
      case 'answered':
        change(attempts, entry.id, { answeredAt: entry.at, outcome: entry.outcome, error: entry.error });
        break;
      case 'held': {
        const { hold: id, key, mode, at, kind, isDowngraded, isListening, permits, call } = entry;
        const about = { kind, isDowngraded, isListening, permits, call };
        const token = BigInt(entry.token);
        holds.set(id, { id, process, key, mode, token, from: at, seenUntil: at, end: 'open', ...about });
        break;
      }
      case 'seen':
        entry.seen.forEach(([id, seenUntil]) => change(holds, id, { seenUntil }));
        break;
      case 'ended':
        change(holds, entry.hold, { seenUntil: entry.seenUntil, end: entry.how, endedAt: entry.at });
        break;
      case 'wrote':
        answers.push(entry);
        break;
      case 'final':
        finals.push({ ...entry, process });
        break;
      case 'warning':
        warnings.push(`${process}: ${entry.text}`);
        break;
    }
  }
  return { holds: [...holds.values()], attempts: [...attempts.values()], answers, finals, warnings };
}

function change<T>(all: Map<string, T>, id: string, by: Partial<T>): void {
  const one = all.get(id);
  if (one) all.set(id, { ...one, ...by });
}

function entriesOf(text: string): JournalEntry[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalEntry);
}
