import type { Result } from './result.js';

/** Reports the completed turn and the remaining time, because a full run takes long. */
export class Progress {
  readonly #startedAt = performance.now();
  /** The planned time of each turn. */
  readonly #plan: readonly number[];
  #done = 0;

  constructor(plan: readonly number[]) {
    this.#plan = plan;
    console.error(`${plan.length} turns, about ${spoken(sum(plan))}`);
  }

  show({ shape, contender, round, figures, overlaps, failure }: Result): void {
    this.#done++;
    const rate = figures.rate === undefined ? '' : `  ${figures.rate.toFixed(0)}/s`;
    const overlapping = overlaps > 0 ? `  ${overlaps} OVERLAPS` : '';
    const failed = failure === undefined ? '' : `  FAILED: ${failure}`;
    const turn = `${shape}  ${contender}  round ${round + 1}${rate}${overlapping}${failed}`;
    console.error(`[${this.#done}/${this.#plan.length}, ${spoken(this.#leftMs())} left] ${turn}`);
  }

  /** Returns the planned time of the turns to come, as many times longer as those so far have taken. */
  #leftMs(): number {
    const slower = (performance.now() - this.#startedAt) / sum(this.#plan.slice(0, this.#done));
    return slower * sum(this.#plan.slice(this.#done));
  }
}

function sum(times: readonly number[]): number {
  return times.reduce((total, ms) => total + ms, 0);
}

function spoken(ms: number): string {
  const seconds = ms / 1_000;
  return seconds < 90 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(0)} min`;
}
