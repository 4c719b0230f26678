import { describe, expect, it } from 'vitest';
import type { JournalEntry } from './journal-entry.js';
import { readJournal } from './read-journal.js';

const textOf = (...entries: JournalEntry[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
const HELD = { what: 'held', hold: 'h', at: 5, key: 'k', mode: 'write', token: '18446744073709551617' } as const;

describe('a journal', () => {
  it('is converted to holds and attempts', () => {
    const text = textOf(
      { what: 'asked', id: 'a', at: 1, keys: ['k'], mode: 'write', waitMs: 100 },
      { what: 'answered', id: 'a', at: 4, outcome: 'granted' },
      HELD,
      { what: 'ended', hold: 'h', at: 10, seenUntil: 9, how: 'lost' },
    );
    const { holds, attempts } = readJournal('worker 1', text);
    expect(holds).toMatchObject([
      { id: 'h', process: 'worker 1', token: 2n ** 64n + 1n, from: 5, seenUntil: 9, end: 'lost', endedAt: 10 },
    ]);
    expect(attempts).toMatchObject([{ id: 'a', askedAt: 1, answeredAt: 4, outcome: 'granted' }]);
  });

  it('of a killed process ends at its torn line and its last check', () => {
    const { holds } = readJournal('worker 1', `${textOf(HELD, { what: 'seen', seen: [['h', 7]] })}{"what":"ended","ho`);
    expect(holds).toMatchObject([{ seenUntil: 7, end: 'open' }]);
  });
});
