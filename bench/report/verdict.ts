import type { Row } from '../support/results.js';
import type { Claim } from './claims.js';
import { shortNumber } from './number.js';
import { ratio } from './summary.js';
import type { Line, Round, ShapeSummary, WithFigures } from './summary.js';

/** A claim with its measured value. */
export interface TickStatus {
  readonly claim: Claim;
  readonly measured: number;
  /** The measured values of the rounds, in ascending order. */
  readonly byRound: readonly number[];
  readonly isTrue: boolean;
}

/** Checks the claims whose shapes and contenders were run. A contender that failed does not fulfil its claim. */
export function judge(claims: readonly Claim[], summaries: readonly ShapeSummary[]): TickStatus[] {
  return claims.flatMap((claim) => {
    const lines = summaries.find(({ shape }) => shape.id === claim.shape)?.lines ?? [];
    const lineOf = (id: string | undefined) => lines.find(({ contender }) => contender === id);
    const [own, other] = [lineOf(claim.contender), lineOf(claim.against)];
    if (!own || (claim.against && !other)) return [];
    const measured = measure(claim, own, other);
    return [{ claim, measured, byRound: byRound(claim, own, other), isTrue: isTrue(claim, measured) }];
  });
}

/** Contenders take turns within a round. So the ratio of a round is that of the same minute. */
function byRound(claim: Claim, own: Line, other: Line | undefined): readonly number[] {
  const beside = ({ round }: Round) => other?.rounds.find((one) => one.round === round);
  const measured = own.rounds.map((round) => measure(claim, round, beside(round)));
  return measured.filter((value) => !Number.isNaN(value)).sort((one, two) => one - two);
}

function measure({ figure, against }: Claim, own: WithFigures, other: WithFigures | undefined): number {
  return against ? ratio(own, other, figure) : (own.figures[figure] ?? Number.NaN);
}

/** Returns whether the measured value is in the range of the claim. NaN is not. */
function isTrue({ atLeast = -Infinity, atMost = Infinity }: Claim, measured: number): boolean {
  return measured >= atLeast && measured <= atMost;
}

export function verdictRow({ claim, measured, byRound: values, isTrue }: TickStatus): Row {
  const { shape, contender, figure, against, atLeast, atMost } = claim;
  return {
    shape,
    claim: `${contender}: ${figure}${against ? ` / ${against}` : ''}`,
    'must be': atMost === undefined ? `at least ${shortNumber(atLeast)}` : `at most ${shortNumber(atMost)}`,
    measured: shortNumber(measured),
    rounds: values.length > 1 ? `${shortNumber(values[0])} to ${shortNumber(values.at(-1))}` : '-',
    reached: isTrue ? 'yes' : 'NO',
  };
}
