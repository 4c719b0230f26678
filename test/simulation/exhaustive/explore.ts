import { Choices } from './choices.js';
import type { Bounds, Deviation } from './choices.js';

/** What a search has come to. */
export interface Explored {
  /** Runs to the end. */
  readonly schedules: number;
  /** Runs that came to where another one had been. */
  readonly cut: number;
  /** Whether everything within the bounds was tried. */
  readonly isComplete: boolean;
}

/**
 * Tries every list of choices within the bounds, depth first, each by a run from the beginning. A run that comes to a state
 * from which everything is tried already, with at least as many deviations left, is cut short.
 * @param isEnough asked after each run: ends the search
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
