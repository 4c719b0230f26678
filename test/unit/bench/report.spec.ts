import { describe, expect, it } from 'vitest';
import type { ContenderId } from '../../../bench/contenders/contender.js';
import { CONTENDERS } from '../../../bench/contenders/contenders.js';
import type { Figures } from '../../../bench/conduct/figures.js';
import type { Result } from '../../../bench/conduct/result.js';
import { CLAIMS } from '../../../bench/report/claims.js';
import type { Claim } from '../../../bench/report/claims.js';
import { ratio, referenceOf, summarise } from '../../../bench/report/summary.js';
import { judge, verdictRow } from '../../../bench/report/verdict.js';
import { SHAPES, shortened } from '../../../bench/shapes.js';

const result = (contender: ContenderId, round: number, figures: Figures, fields: Partial<Result> = {}): Result => ({
  shape: '1x1',
  contender,
  round,
  figures,
  acquisitions: 10,
  overlaps: 0,
  ...fields,
});

const RESULTS = [
  ...[3, 1, 2].map((rate, round) => result('ours', round, { rate, p50Us: 10 * rate })),
  ...[4, 4, 5].map((rate, round) => result('curator', round, { rate, p50Us: 100 })),
];
const claim: Claim = { shape: '1x1', contender: 'ours', figure: 'rate', against: 'curator', atLeast: 0.5 };

describe('the summary', () => {
  it('has the medians of the rounds', () => {
    const [summary] = summarise(SHAPES, RESULTS);
    expect(summary!.lines.map(({ figures }) => figures)).toEqual([
      { rate: 2, p50Us: 20 },
      { rate: 4, p50Us: 100 },
    ]);
    expect(ratio(summary!.lines[0], referenceOf(summary!), 'p50Us')).toBe(0.2);
    expect(ratio(summary!.lines[0], undefined, 'p50Us')).toBeNaN();
  });

  it('adds up overlaps and failures, and omits what was not run', () => {
    const bad = result('ours', 3, {}, { overlaps: 2, failure: 'no answer', acquisitions: 5 });
    const summaries = summarise(SHAPES, [...RESULTS, bad]);
    expect(summaries).toHaveLength(1);
    expect(summaries[0]!.lines[0]).toMatchObject({ overlaps: 2, acquisitions: 35, failures: ['no answer'] });
    expect(summaries[0]!.lines[0]!.figures).toEqual({ rate: 2, p50Us: 20 });
  });
});

describe('the result of a claim', () => {
  const summaries = summarise(SHAPES, RESULTS);

  it.each([
    [{ ...claim, atLeast: 0.5 }, true],
    [{ ...claim, atLeast: 0.51 }, false],
    [{ ...claim, atLeast: undefined, atMost: 0.49 }, false],
    [{ ...claim, against: undefined, atLeast: 2 }, true],
    [{ ...claim, figure: 'heapBytes' }, false],
  ] as const)('of %j is %s', (one, isTrue) => {
    expect(judge([one], summaries).map((verdict) => verdict.isTrue)).toEqual([isTrue]);
  });

  it('omits a claim that was not measured', () => {
    expect(
      judge(
        [
          { ...claim, shape: '4x16' },
          { ...claim, against: 'kazoo' },
        ],
        summaries,
      ),
    ).toEqual([]);
  });

  it('shows the measured figures', () => {
    const [row] = judge([claim], summaries).map(verdictRow);
    expect(row).toMatchObject({ 'must be': 'at least 0.50', measured: '0.50', reached: 'yes' });
  });

  it('shows the range of the rounds, each compared with the same round of the other', () => {
    const [row] = judge([claim], summaries).map(verdictRow);
    expect(row).toMatchObject({ rounds: '0.25 to 0.75' });
    const missing = RESULTS.filter(({ contender, round }) => contender === 'ours' || round > 0);
    const [shorter] = judge([claim], summarise(SHAPES, missing));
    expect(shorter?.byRound).toEqual([0.25, 0.4]);
    expect(judge([{ ...claim, against: undefined }], summaries)[0]?.byRound).toEqual([1, 2, 3]);
  });
});

describe('the claims', () => {
  it.each(CLAIMS)('belong to a shape that has these contenders: $shape $contender $figure', (one) => {
    const shape = SHAPES.find(({ id }) => id === one.shape);
    expect(shape?.contenders).toContain(one.contender);
    if (one.against) expect(shape?.contenders).toContain(one.against);
    expect([one.atLeast, one.atMost].filter((limit) => limit !== undefined)).toHaveLength(1);
  });
});

describe('the shapes', () => {
  it.each(SHAPES)('are compared with a contender that runs them: $id', (shape) => {
    expect(shape.contenders).toContain(shape.reference);
    expect(new Set(shape.contenders).size).toBe(shape.contenders.length);
    expect(shape.contenders.filter((id) => !CONTENDERS.has(id))).toEqual([]);
    expect(shortened(shape)).toMatchObject({ id: shape.id, contenders: shape.contenders });
  });

  it('allow every contender, except the planted broken one', () => {
    const running = new Set(SHAPES.flatMap(({ contenders }) => contenders));
    expect([...CONTENDERS.keys()].filter((id) => !running.has(id))).toEqual(['no-lock']);
  });
});
