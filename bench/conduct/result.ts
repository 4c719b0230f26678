import type { ContenderId } from '../contenders/contender.js';
import type { Measured } from './stage.js';

/** What came of one turn. */
export interface Result extends Measured {
  readonly shape: string;
  readonly contender: ContenderId;
  readonly round: number;
  /** Why there is nothing to show. */
  readonly failure?: string;
}
