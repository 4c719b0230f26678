import type { ContenderId } from '../contenders/contender.js';
import type { BenchOptions } from '../options.js';
import type { Measured } from './stage.js';

/** What came of one turn. */
export interface Result extends Measured {
  readonly shape: string;
  readonly contender: ContenderId;
  readonly round: number;
  /** Why there is nothing to show. */
  readonly failure?: string;
}

/** A window in which nobody got the lock is none to draw a median from; one of a short run may just be too short. */
export function failureOf(
  { figures }: Pick<Measured, 'figures'>,
  { isShort }: Pick<BenchOptions, 'isShort'>,
): Pick<Result, 'failure'> {
  return figures.rate === 0 && !isShort ? { failure: 'nobody got it in the whole window' } : {};
}
