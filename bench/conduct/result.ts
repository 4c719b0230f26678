import type { ContenderId } from '../contenders/contender.js';
import type { BenchOptions } from '../options.js';
import type { Measured } from './stage.js';

/** The result of one turn. */
export interface Result extends Measured {
  readonly shape: string;
  readonly contender: ContenderId;
  readonly round: number;
  /** The reason why there are no figures. */
  readonly failure?: string;
}

/**
 * Returns a failure for a window without any acquisition, which has no median. In a short run the window may just be
 * too short.
 */
export function failureOf(
  { figures }: Pick<Measured, 'figures'>,
  { isShort }: Pick<BenchOptions, 'isShort'>,
): Pick<Result, 'failure'> {
  return figures.rate === 0 && !isShort ? { failure: 'nobody got it in the whole window' } : {};
}
