import type { Entry, Recorded } from './entry.js';

/**
 * The number of entries of each kind, such as `stock deduct: done` or `held: term`. It shows whether a run was
 * substantial.
 */
export function summaryOf(recorded: readonly Recorded[]): Readonly<Record<string, number>> {
  const calls = new Map<string, string>();
  const counts: Record<string, number> = {};
  for (const { entry } of recorded) {
    if (entry.what === 'call') calls.set(entry.id, `${entry.call.on} ${entry.call.ask}`);
    const kind = kindOf(entry, calls);
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

function kindOf(entry: Entry, calls: ReadonlyMap<string, string>): string {
  if (entry.what === 'return') return `${calls.get(entry.id)}: ${entry.answer.outcome}`;
  if (entry.what === 'answered') return `lock: ${entry.outcome}`;
  if (entry.what === 'held') return `held: ${entry.isDowngraded ? 'downgraded' : (entry.kind ?? 'lock')}`;
  return entry.what;
}
