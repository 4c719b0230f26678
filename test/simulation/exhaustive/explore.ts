import { Choices } from './choices.js';
import type { Bounds, Deviation } from './choices.js';

/** The results of a search. */
export interface Explored {
  /** The number of runs to the end. */
  readonly schedules: number;
  /** The number of runs that were cut short at a known state. */
  readonly cut: number;
  /** Whether everything within the bounds was tried. */
  readonly isComplete: boolean;
}

/**
 * Tries every list of choices within the bounds, depth first, each by a run from the beginning. A run is cut short at a
 * state from which everything was tried with at least as many deviations left.
 * @param isEnough ends the search; called after each run
 */
export async function explore(
  bounds: Bounds,
  run: (choices: Choices) => Promise<void>,
  isEnough: () => boolean = () => false,
): Promise<Explored> {
  const known = new Map<number, number>();
  const isKnown = (state: number, deviations: number): boolean => {
    const least = known.get(state);
    if (least !== undefined && least <= deviations) return true;
    known.set(state, deviations);
    return false;
  };
  let [schedules, cut] = [0, 0];
  const open: (readonly Deviation[])[] = [[]];
  for (let given = open.pop(); given; given = open.pop()) {
    const choices = new Choices(given, bounds, isKnown);
    await run(choices);
    if (choices.isOver) cut++;
    else schedules++;
    for (const deviation of choices.open) open.push([...given, deviation]);
    if (isEnough()) return { schedules, cut, isComplete: open.length === 0 };
  }
  return { schedules, cut, isComplete: true };
}
