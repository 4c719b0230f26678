import { describe, expect, it } from 'vitest';
import type { HoldKind } from '../../robustness/model/history.js';
import type { Believable, Watchfulness } from '../../robustness/traffic/beliefs.js';
import type { Entry } from '../model/entry.js';
import { Records } from './records.js';
import { SOME_ORDERS } from './some-orders.js';

/** The entries of a process that is handed this lease, and works for a moment. */
function recorded(
  isHeld: boolean,
  about: { readonly kind?: HoldKind; readonly isDowngraded?: boolean } = {},
  watchfulness: Watchfulness = 'asks',
): Entry[] {
  const entries: Entry[] = [];
  const orders = { ...SOME_ORDERS, seed: 1, basePath: '/locks', connectString: '' };
  const { beliefs } = new Records({
    process: 'a',
    orders,
    record: (entry) => entries.push(entry),
    finishing: new AbortController().signal,
  });
  const lease: Believable = {
    key: 'k',
    fencingToken: 1n,
    signal: new AbortController().signal,
    isHeld: () => isHeld,
  };
  beliefs.begin(lease, 'exclusive', watchfulness, about)?.end();
  return entries;
}

describe('a lease that is handed out', () => {
  it('is recorded as held until it is released', () => {
    expect(recorded(true).map(({ what }) => what)).toEqual(['held', 'ended']);
  });

  it('is reported if it is already over', () => {
    expect(recorded(false)).toMatchObject([{ what: 'over at once', key: 'k' }]);
  });

  it.each(['run', 'item', 'member', 'term', 'permits'] as const)(
    'may already be over if it is looked at later: %s',
    (kind) => {
      expect(recorded(false, { kind })).toEqual([]);
    },
  );

  it('may already be over if a writer continues as a reader', () => {
    expect(recorded(false, { isDowngraded: true })).toEqual([]);
    expect(recorded(false, { isDowngraded: false })).toHaveLength(1);
  });

  it('is marked if its holder only listens', () => {
    expect(recorded(true, {}, 'listens')[0]).toMatchObject({ isListening: true });
    expect(recorded(true, {}, 'asks')[0]).not.toHaveProperty('isListening');
  });
});
