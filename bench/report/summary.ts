import { CONTENDERS } from '../contenders/contenders.js';
import type { ContenderId } from '../contenders/contender.js';
import type { Figures } from '../conduct/figures.js';
import type { Result } from '../conduct/result.js';
import type { Shape } from '../shapes.js';
import { median } from '../support/statistics.js';

export type Figure = keyof Figures;

export type Round = Pick<Result, 'round' | 'figures'>;

/** A contender's rounds on a shape, combined. */
export interface Line {
  readonly contender: ContenderId;
  readonly label: string;
  /** The medians of its rounds. */
  readonly figures: Figures;
  readonly rounds: readonly Round[];
  /** The number of checked acquisitions, and the number that overlapped. */
  readonly acquisitions: number;
  readonly overlaps: number;
  readonly failures: readonly string[];
}

/** The medians of a line, or the figures of one of its rounds. */
export type WithFigures = Pick<Line, 'figures'>;

export interface ShapeSummary {
  readonly shape: Shape;
  readonly lines: readonly Line[];
}

/** Returns the shapes that were run, with their contenders. */
export function summarise(shapes: readonly Shape[], results: readonly Result[]): ShapeSummary[] {
  return shapes.flatMap((shape) => {
    const own = results.filter((result) => result.shape === shape.id);
    const lines = [...CONTENDERS.values()].flatMap(({ id, label }) => {
      const rounds = own.filter(({ contender }) => contender === id);
      return rounds.length === 0 ? [] : [lineOf(id, label, rounds)];
    });
    return lines.length === 0 ? [] : [{ shape, lines }];
  });
}

/** Returns the factor from one figure to the other; NaN if either is missing. */
export function ratio(of: WithFigures | undefined, to: WithFigures | undefined, figure: Figure): number {
  return (of?.figures[figure] ?? Number.NaN) / (to?.figures[figure] ?? Number.NaN);
}

export function referenceOf({ shape, lines }: ShapeSummary): Line | undefined {
  return lines.find(({ contender }) => contender === shape.reference);
}

function lineOf(contender: ContenderId, label: string, rounds: readonly Result[]): Line {
  const names = new Set(rounds.flatMap(({ figures }) => Object.keys(figures) as Figure[]));
  const medians = [...names].map((name) => [name, median(rounds.flatMap(({ figures }) => figures[name] ?? []))]);
  const sum = (field: 'acquisitions' | 'overlaps') => rounds.reduce((total, round) => total + round[field], 0);
  return {
    contender,
    label,
    figures: Object.fromEntries(medians) as Figures,
    rounds: rounds.map(({ round, figures }) => ({ round, figures })),
    acquisitions: sum('acquisitions'),
    overlaps: sum('overlaps'),
    failures: rounds.flatMap(({ failure }) => failure ?? []),
  };
}
