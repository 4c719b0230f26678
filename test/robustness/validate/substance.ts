import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/** The minimum activity of a run, without which the absence of findings means nothing. */
export interface Substance {
  readonly holds: number;
  readonly faults: number;
  readonly writes: number;
}

/** A run in which little happened proves little, so that counts as a failure too. */
export function checkSubstance(history: Pick<History, 'holds' | 'faults' | 'writes'>, least: Substance): Finding[] {
  return (Object.keys(least) as (keyof Substance)[])
    .filter((what) => history[what].length < least[what])
    .map((what) => ({
      check: 'substance',
      message: `only ${history[what].length} ${what} where at least ${least[what]} were meant to be`,
      records: [],
    }));
}

/** Returns the minimum activity for a share of the usual length. */
export function inShare(least: Substance, share: number): Substance {
  const part = (count: number) => Math.floor(count * Math.min(1, share));
  return { holds: part(least.holds), faults: part(least.faults), writes: part(least.writes) };
}
