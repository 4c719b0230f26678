import { describe, expect, it } from 'vitest';
import { CLAIMS } from '../../../bench/report/claims.js';
import { SHAPES } from '../../../bench/shapes.js';

const PARTIES = CLAIMS.flatMap(({ shape, contender, against }) =>
  [contender, ...(against === undefined ? [] : [against])].map((party) => [party, shape] as const),
);

const bounds = (shape: string) =>
  CLAIMS.filter((claim) => claim.shape === shape).map(({ atLeast, atMost }) => [atLeast, atMost]);

describe('the limit of a claim', () => {
  it.each(PARTIES)('is known for %s in %s', (party, shape) => {
    expect(SHAPES.find(({ id }) => id === shape)?.contenders).toContain(party);
  });

  it('is a fifth looser on three nodes', () => {
    expect(bounds('reads')).toEqual([
      [7, undefined],
      [2.3, undefined],
      [4, undefined],
    ]);
    expect(bounds('3-nodes-reads')).toEqual([
      [expect.closeTo(5.6), undefined],
      [expect.closeTo(1.84), undefined],
    ]);
    expect(bounds('3-nodes-1x1')).toEqual([
      // Its own goal, which is not that of one server.
      [undefined, 0.86],
      [undefined, expect.closeTo(1.02)],
      [undefined, expect.closeTo(1.26)],
    ]);
  });
});
